// What the kernels that analyse a matrix have in common. Work-groups are numbered along x and then
// y, and those past the last one that there is work for do nothing.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

uint group_number()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
