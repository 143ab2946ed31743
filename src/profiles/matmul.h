/* What the models of matrix products know of kinds of devices. */
#ifndef WFI_PROFILES_MATMUL_H
#define WFI_PROFILES_MATMUL_H

#include "profiles/matmul_rates.h"
#include "profiles/profile.h"

typedef struct wfi_matmul_profile {
    /* All tiles. A factor of the memory time is the least time expected of a variant; 0: none. */
    double flops_a_byte;       /* arithmetic done in the time that memory takes for a byte */
    double naive_memory;       /* factor, of naive */
    double register_memory;    /* factor, of register */
    bool hides_latency;        /* by running many work-items, and is idle where they are few */
    bool gains_by_tiles;       /* false: shared memory is no faster than memory, so naive wins */
    bool registers_are_memory; /* a work-item's sums lie in memory: loads ahead gain nothing */

    /* vector */
    uint32_t most_registers; /* of a work-item, from which on compilers spill; 0: not known */
    double register_fill;    /* in place of it: of the registers that an architecture gives a
                              * work-item, the part that the model may count on; 0: all */
    uint32_t unit_registers; /* of a compute unit that holds no more shared memory for all its
                              * work-groups than one of them may have; 0: it holds more */
    bool pairs;          /* neighbouring work-items' loads of the same shared memory are one load */
    bool gathers_stores; /* of elements that are no vectors: side by side they are fewer requests */
    bool keeps_operands; /* an instruction reads an operand again without its register */
    double stream_k_outputs; /* that all work-groups of a compute unit compute at a time;
                              * 0: stream-K gains nothing, or nobody has measured it */
    double partial_steps;    /* cost of that many outputs as a partial tile, in steps of the sum */
    double ended_steps;      /* further cost of a shared tile that ends */

    /* vector and subgroup_k: what is guessed of the device's rates until they are measured; NULL:
     * what takes a kernel's time has no such form, and lists of sizes decide. */
    const wfi_rates *rates;
    bool guess_decides; /* the guess is close enough to choose by; else lists of sizes do */
    double clock_mhz;   /* usual; blocks are chosen by what is published of the device's units until
                         * rates are measured (kernels/matmul/published_time.h). 0: they are not */

    /* Variants for few tiles, and for few rows or columns of C. */
    bool subgroup_k, panel;   /* measured */
    uint32_t matvec_group;    /* work-items a work-group along the outputs */
    uint32_t matvec_loads;    /* loads under way, and */
    uint32_t matvec_chunks;   /* chunks of the sum, of one large vector in f32; 0: the defaults */
    uint32_t most_vectors;    /* rows or columns of C from which on matvec is slower than tiles */
    bool vectors_add;         /* matvec's time grows with their number */
    double matrix_byte_flops; /* as flops_a_byte, of a matrix times one vector; 0: the same */

    /* Matrix units. */
    bool narrow_matrix_subgroups; /* the smallest subgroup has most registers a work-item */
    bool matrix_units;            /* false: what the driver offers is plain code */
    bool matrix_units_stream_k;   /* measured */
    bool f16x2;                   /* measured to be faster than f32 */
} wfi_matmul_profile;

const wfi_matmul_profile *wfi_matmul_profile_of(const wf_caps *caps);

#endif
