// Bindings, push constants and sums of the conjugate-gradient kernels, after Chronopoulos and Gear
// (1989): one pass of dot products an iteration. r is the residual, u = M r the preconditioned one,
// w = A u, p the direction, s = A p.
//
// A kernel leaves one partial sum of a dot product a work-group. In a kernel that needs the dot
// product, every work-group adds up all partial sums for itself, in the same order. So every run
// gives the same bits, and no scalar goes through the host.
//
// RECORDED: of a solve that is recorded into the application's command buffers. Its dispatches take
// their sizes from `words`, an array of VkDispatchIndirectCommand behind the partial sums; whoever
// ends the solve writes zeros there.
//
// OWN_BINDINGS: the shader has other buffers at bindings 1 and 2. NO_VECTORS: at binding 0, too,
// and the scalars are at 2.
//
// PART: of a part of a system, whose scalars the host computes (wf_cg_step_plan).
#include "common/real.glsl"
#ifdef RECORDED
#define RESTRICT
#else
#define RESTRICT restrict
#endif
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
#ifndef NO_VECTORS
layout(std430, set = 0, binding = 0) restrict buffer A { REAL a[]; }; // x, r, p
#endif
#ifndef OWN_BINDINGS
layout(std430, set = 0, binding = 1) restrict buffer B { REAL b[]; }; // s, w
layout(std430, set = 0, binding = 2) RESTRICT buffer C { REAL c[]; }; // u, then M's inverted blocks
#endif
#ifdef NO_VECTORS
#define SCALARS_BINDING 2
#else
#define SCALARS_BINDING 3
#endif
layout(std430, set = 0, binding = SCALARS_BINDING) RESTRICT buffer Scalars { REAL scalars[]; };
#ifdef RECORDED
#ifndef OWN_BINDINGS
layout(std430, set = 0, binding = 2) readonly buffer CWords { uint c_words[]; };
#endif
layout(std430, set = 0, binding = 3) buffer Words { uint words[]; };
#endif
layout(push_constant) uniform Push {
    uint iteration;
    uint count;        // elements of a vector
    uint stride;       // from one vector to the next
    uint block;        // side of the blocks that M inverts; 0: none
    uint groups;       // work-groups of the vector kernels
    uint partials_at;  // where the partial sums of u w begin in scalars
    uint partials;     // how many these are
    uint history_at;
#ifdef PART
    uint products; // partial sums of u w that the product left
#endif
#ifdef RECORDED
    uint sizes_at;      // of the dispatches, in words
    uint sizes;         // how many dispatches these are
    uint full_sizes_at; // their sizes while the solve runs, in c_words
    float tolerance;
    uint refiners;   // mixed precision: dispatches that refine x, sized behind the others
    uint refined_at; // and where its own numbers begin in scalars (cg_mixed.glsl)
#endif
} push;

#define X(i) a[i]
#define R(i) a[push.stride + (i)]
#define P(i) a[2 * push.stride + (i)]
#define S(i) b[i]
#define W(i) b[push.stride + (i)]
#define U(i) c[i]
#define M(i) c[push.stride + (i)] // `block` elements a row of the inverted blocks

// Places in scalars: a state for even iterations, one for odd ones, then the partial sums.
#define STATE(parity, which) scalars[4 * (parity) + (which)]
#define STATUS 0
#define ITERATIONS 1
#define GAMMA 2 // of the iteration before
#define ALPHA 3
#define WANTED scalars[8]
#define BB scalars[9] // b b, and r r at first, of a recorded solve
#define FIRST_RR scalars[10]
#ifdef RECORDED
#define BASE uint(scalars[11]) // the iteration that this solve, or correction, began at
#else
#define BASE 0
#endif
#define PARTIALS_AT(dot) (12 + (dot) * push.groups)
#define PARTIAL(dot, group) scalars[PARTIALS_AT(dot) + (group)]
#define RU 0 // r u of even iterations; RU + 1: of odd ones
#define RR 2 // r r, likewise
#define HISTORY(i) scalars[push.history_at + (i)]

#define WARM 1  // as WF_SOLVE_WARM and WF_SOLVE_FIXED: in place of the iteration where a recorded
#define FIXED 2 // solve begins

#define RUNNING 0
#define CONVERGED 1
#define INDEFINITE 2
#define NOT_FINITE 3
#define BREAKDOWN 4

// Of 512 work-items, sums of 8, then of 8 such sums, then of 8 of these: short chains of additions.
const uint FIRST_SUMS = 64, LAST = 8;
shared REAL sums[3 * gl_WorkGroupSize.x];
shared REAL first_sums[3 * FIRST_SUMS];
shared REAL last[3 * LAST];

// Adds up three values over the work-group; every work-item gets the sums.
REAL[3] group_sums(REAL first, REAL second, REAL third)
{
    const uint size = gl_WorkGroupSize.x;
    uint item = gl_LocalInvocationIndex;
    barrier();
    sums[item] = first;
    sums[size + item] = second;
    sums[2 * size + item] = third;
    barrier();
    for (uint at = item; at < 3 * FIRST_SUMS; at += size) {
        uint from = at / FIRST_SUMS * size + at % FIRST_SUMS;
        REAL sum = REAL(0);
        for (uint i = 0; i < size; i += FIRST_SUMS)
            sum += sums[from + i];
        first_sums[at] = sum;
    }
    barrier();
    if (item < 3 * LAST) {
        uint from = item / LAST * FIRST_SUMS + item % LAST;
        REAL sum = REAL(0);
        for (uint i = 0; i < FIRST_SUMS; i += LAST)
            sum += first_sums[from + i];
        last[item] = sum;
    }
    barrier();
    REAL all[3] = REAL[3](REAL(0), REAL(0), REAL(0));
    for (uint i = 0; i < LAST; i++) {
        all[0] += last[i];
        all[1] += last[LAST + i];
        all[2] += last[2 * LAST + i];
    }
    return all;
}

// Adds up this work-item's of the `count` partial sums that begin at `from`, without the first
// `skipped` of them.
REAL others(uint from, uint count, uint skipped)
{
    REAL sum = REAL(0);
    for (uint i = gl_LocalInvocationIndex + skipped * gl_WorkGroupSize.x; i < count;
         i += gl_WorkGroupSize.x)
        sum += scalars[from + i];
    return sum;
}

// r u, r r and u w of this iteration. Nearly always a work-item issues all its loads of partial
// sums at once.
REAL[3] dots(uint parity)
{
    REAL ru[2], rr[2], uw[4];
    REAL all[3] = REAL[3](REAL(0), REAL(0), REAL(0));
    uint item = gl_LocalInvocationIndex;
    [[unroll]] for (uint k = 0; k < 2; k++) {
        uint i = min(item + k * gl_WorkGroupSize.x, push.groups - 1);
        ru[k] = PARTIAL(RU + parity, i);
        rr[k] = PARTIAL(RR + parity, i);
    }
    [[unroll]] for (uint k = 0; k < 4; k++)
        uw[k] = scalars[push.partials_at + min(item + k * gl_WorkGroupSize.x, push.partials - 1)];
    [[unroll]] for (uint k = 0; k < 2; k++) {
        bool there = item + k * gl_WorkGroupSize.x < push.groups;
        all[0] += there ? ru[k] : REAL(0);
        all[1] += there ? rr[k] : REAL(0);
    }
    [[unroll]] for (uint k = 0; k < 4; k++)
        all[2] += item + k * gl_WorkGroupSize.x < push.partials ? uw[k] : REAL(0);
    all[0] += others(PARTIALS_AT(RU + parity), push.groups, 2);
    all[1] += others(PARTIALS_AT(RR + parity), push.groups, 2);
    all[2] += others(push.partials_at, push.partials, 4);
    return group_sums(all[0], all[1], all[2]);
}

void put_partials(uint parity, REAL ru, REAL rr)
{
    REAL all[3] = group_sums(ru, rr, REAL(0));
    if (gl_LocalInvocationIndex == 0) {
        PARTIAL(RU + parity, gl_WorkGroupID.x) = all[0];
        PARTIAL(RR + parity, gl_WorkGroupID.x) = all[1];
    }
}

bool finite(REAL value)
{
    return !isnan(value) && !isinf(value);
}

#ifndef OWN_BINDINGS
// Element i of M r; with blocks it reads r from the buffer.
REAL preconditioned(uint i, REAL r)
{
    if (push.block == 0)
        return r;
    if (push.block == 1)
        return M(i) * r;
    uint first = i / push.block * push.block;
    REAL sum = REAL(0);
    for (uint k = 0; k < push.block && first + k < push.count; k++)
        sum += M(i * push.block + k) * R(first + k);
    return sum;
}
#endif

// Every work-item takes whole blocks, whose r it can then read again. push.groups counts
// work-groups, since gl_NumWorkGroups is that of a piece where the dispatch is cut into pieces.
#define FOR_EACH_BLOCK(first, side) \
    for (uint first = gl_GlobalInvocationID.x * (side); first < push.count; \
         first += push.groups * gl_WorkGroupSize.x * (side))
