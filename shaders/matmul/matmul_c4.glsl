// C four elements at a time; where its type is narrower than the sums, also as these.
#ifdef NARROW
layout(std430, set = 0, binding = 2) buffer C4 { STORED4 c4[]; };
layout(std430, set = 0, binding = 2) buffer CSums4 { ACC4 c_sums4[]; };
#else
layout(std430, set = 0, binding = 2) buffer C4 { ACC4 c4[]; };
#endif
