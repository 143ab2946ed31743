/* What is published about GPU architectures: the limits that decide how many work-groups a compute
 * unit can hold, and its arithmetic. Everything here is from documents, nothing measured. */
#ifndef WFI_CORE_ARCHITECTURES_H
#define WFI_CORE_ARCHITECTURES_H

#include "wavefit/wavefit.h"

/* A unit is what holds whole work-groups: NVIDIA's SM, AMD's compute unit (GCN, CDNA) or work-group
 * processor (RDNA), Intel's subslice or Xe core, Adreno's SP, a Mali or Apple core, PowerVR's USC,
 * VideoCore's core. A wave is the hardware's subgroup: warp, wavefront, task, SIMD group. Registers
 * are 32 bits wide and counted a lane. A member that is 0 is not published. */
typedef struct wfi_architecture {
    const char *name;       /* "amd:rdna3" */
    const char *generation; /* for people: "RDNA 3" */
    const char *unit;       /* what holds whole work-groups, for people */
    uint32_t vendor_id;
    const char *name_pieces; /* of device names, separated by '|'; any one will do */
    uint32_t wave;           /* lanes; the usual size where there are several */
    uint32_t simds;          /* a unit: each holds its share of waves and registers */
    uint32_t counted_units;  /* of wf_caps.compute_units that make a unit; 0: 1 */
    uint32_t device_units;   /* of every device of the row; 0: they differ */
    uint32_t simd_waves;     /* most waves resident */
    uint32_t unit_groups;    /* most work-groups resident */
    bool groups_by_barriers; /* unit_groups counts barriers; a group of one wave needs none */
    uint32_t simd_registers; /* words, over all lanes */
    uint32_t register_step;  /* a lane's registers are rounded up to a multiple (at `wave` lanes) */
    uint32_t lane_registers; /* most a lane can have */
    uint32_t wave_words;     /* where a wave always gets the same: register words */
    bool wave_doubles;       /* that are doubled for kernels that need more: half the waves then */
    uint32_t wave_step;      /* waves come in multiples */
    uint32_t unit_shared;    /* bytes; 0 with shared_is_memory: no store of its own */
    uint32_t shared_step;    /* a work-group's bytes are rounded up to a multiple */
    uint32_t shared_reserved; /* bytes a work-group loses */
    uint32_t unit_fma;        /* f32 multiply-adds a clock */
    double flops_a_byte;      /* f32 at most, over memory's bandwidth; 0: products differ */
    bool shared_is_memory;    /* shared memory is ordinary cached memory */
    const char *source;
} wfi_architecture;

uint32_t wfi_architecture_count(void);
const wfi_architecture *wfi_architecture_get(uint32_t index); /* NULL: there are no more */

/* The row of a device, by vendor and name; NULL where there is none. */
const wfi_architecture *wfi_architecture_of(const wf_caps *caps);
/* By "amd:rdna3" or "rdna3", by a chip ("navi31", "amd:navi31"), by a target ("adreno:740",
 * "nvk:ampere"), by the name of a device that has a name piece in it ("Tesla K20", "gtx480"), or by
 * a generation ("Kepler": the first of its rows), whatever the case; NULL: none. */
const wfi_architecture *wfi_architecture_named(const char *name);

/* What models need to know of a compute unit; 0: the device does not report it and nobody has
 * published it. */
typedef struct wfi_unit {
    uint32_t items;          /* work-items resident at most */
    uint32_t lane_registers; /* a work-item has at most */
    uint32_t registers;      /* of a unit, for all its work-items */
    uint32_t wave_words;     /* of a subgroup, whatever its size; 0: by lane_registers alone */
    uint32_t groups;         /* work-groups resident at most */
    uint32_t shared_bytes;   /* of shared memory, of all of them */
    uint32_t fma;            /* f32 multiply-adds a clock */
    uint32_t counted;        /* of wf_caps.compute_units that make a unit; at least 1 */
    double flops_a_byte;     /* f32 at most, over memory's bandwidth; 0: products differ */
    bool shared_is_memory;
} wfi_unit;

wfi_unit wfi_unit_of(const wf_caps *caps);

/* The number of compute units that models and estimates use: what the device reports, else a guess
 * by the type of device. */
uint32_t wfi_units_of(const wf_caps *caps);

#endif
