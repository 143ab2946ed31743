/* Specialization constants of the peaks' shaders; ids 0-2 are the work-group size. */
#define PEAKS_ID_UNROLL 3
#define PEAKS_ID_M 4 /* shape of a cooperative matrix */
#define PEAKS_ID_N 5
#define PEAKS_ID_K 6
