// The type that kernels of f32 and f64 compute in.
#ifdef WF_TYPE_F64
#define REAL double
#else
#define REAL float
#endif
