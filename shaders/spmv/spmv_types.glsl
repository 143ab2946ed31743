// Types of the spmv kernels. f16 is a type of the matrix alone: its values are read as packed
// halves, which needs no feature, and everything else is f32.
#ifdef WF_TYPE_F64
#define REAL double
#else
#define REAL float
#endif
