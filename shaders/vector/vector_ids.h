/* Parameters of the vector family, by which a point keeps its values. Below WFI_HOST_IDS (64) an id
 * is that of a specialization constant too; 0 to 2 are the work-group size. */
#define WF_VECTOR_ID_LOCAL_X 0
#define WF_VECTOR_ID_ITEMS 64 /* the host's alone */
#define WF_VECTOR_ID_OPERATION 3
#define WF_VECTOR_ID_DEVICE_SCALAR 4

/* Values of WF_VECTOR_ID_OPERATION. */
#define WF_VECTOR_OP_AXPY 0 /* y = y + a x */
#define WF_VECTOR_OP_XPAY 1 /* y = x + a y */
#define WF_VECTOR_OP_DOT 2  /* partial sums of x y */
#define WF_VECTOR_OP_SUM 3  /* the sum of all partial sums */
