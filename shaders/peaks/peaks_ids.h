/* Specialization constants of the ceilings' shaders; ids 0-2 are the work-group size. */
#define PEAKS_ID_UNROLL 3
