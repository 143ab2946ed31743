// A matrix in a storage image: row y of the image is its row y, and a texel is one element of it,
// or four, one behind the other.
#ifdef NARROW
#extension GL_EXT_shader_16bit_storage : require
#define ELEMENT float16_t
#else
#define ELEMENT float
#endif
#ifdef FOUR
const uint ELEMENTS = 4;
#else
const uint ELEMENTS = 1;
#endif
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(push_constant) uniform Push {
    uint rows, columns, ld; // of the matrix, in elements
} push;
