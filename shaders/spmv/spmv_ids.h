/* Specialization constants of the spmv family; ids 0-2 are the work-group size. An id is never
 * reused. */
#define SPMV_ID_LANES 3
