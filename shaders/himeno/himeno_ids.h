/* Parameters of Himeno's variants, by which a point keeps its values. An id below WFI_HOST_IDS (64)
 * is that of a specialization constant too; 0 to 2 are the work-group size. An id is never reused:
 * 8, 66 and 67 were those of parameters that are gone. */
#define HIMENO_ID_LOCAL_X 0
#define HIMENO_ID_LOCAL_Y 1
#define HIMENO_ID_LOCAL_Z 2
#define HIMENO_ID_MARCH 3
#define HIMENO_ID_STEPS 4
#define HIMENO_ID_OWN_SUMS 5
#define HIMENO_ID_REVERSE 6
#define HIMENO_ID_PASSES 7
#define HIMENO_ID_BLOCK 9
#define HIMENO_ID_SUBGROUPS 10
/* These are the host's alone: no shader has them. */
#define HIMENO_ID_PAD 64
#define HIMENO_ID_INTERLEAVE 65
#define HIMENO_ID_SUBMIT 68
#define HIMENO_ID_REGION 69
