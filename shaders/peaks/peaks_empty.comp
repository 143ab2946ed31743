// MODULE peaks_empty
#version 450
// Does nothing, so that its time is the cost of a dispatch.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

void main() {}
