/* What families, variants and points are: the table that library, tuner, tests, bench and analysis
 * read. A family has variants; a variant has parameters, constraints, modules, geometry and a model
 * of good values. docs/structure.md says which files a new one touches: a variant its .comp, its
 * file in variants/ and a line in its family's list; a parameter value one line. */
#ifndef WFI_PLAN_FAMILY_H
#define WFI_PLAN_FAMILY_H

#include "core/caps.h"
#include "core/pipeline.h"
#include "core/spirv.h"
#include "wavefit/wavefit.h"

/* What a problem looks like to the planner; sizes and statistics only, no data. */
typedef struct wfi_matmul_sizes {
    uint64_t m, n, k, batch;
} wfi_matmul_sizes;

typedef struct wfi_matmul_problem {
    uint64_t m, n, k;
    uint64_t lda, ldb, ldc;                /* never 0 but where a row is */
    uint64_t batch;                        /* at least 1 */
    uint64_t stride_a, stride_b, stride_c; /* 0: all products use one */
    bool transpose_a, transpose_b;
    bool beta, bias; /* C is read; a bias is added */
    bool fast;       /* wf_math */
    wf_activation activation;
    wf_matmul_output output;
    /* Whether recordings give sizes of their own; then the largest ones, and what each is a
     * multiple of (0: it is fixed). Kernels are made for these. */
    bool varies;
    wfi_matmul_sizes most, unit;
} wfi_matmul_problem;

/* C = A B, all packed. */
wfi_matmul_problem wfi_matmul_plain(uint64_t m, uint64_t n, uint64_t k);

typedef struct wfi_spmv_problem {
    uint64_t rows, columns, entries;
    uint32_t longest_row;
    double mean_row, row_deviation; /* of entries a row */
    double padding;                 /* loads of 32 rows as a slice over the rows' own; 0: unknown */
    uint32_t vectors;               /* right-hand sides; 0: 1 */
    bool strided;                   /* x or y has a stride */
    bool fused;                     /* the dot product of x and y is asked for too */
    uint32_t block;                 /* side of the blocks that entries fill best; 0: not known */
    double block_fill;              /* fraction of such blocks' places that they fill */
    uint64_t bandwidth;             /* the largest distance of an entry from the diagonal */
} wfi_spmv_problem;

typedef struct wfi_himeno_problem {
    uint64_t ni, nj, nk; /* cells, borders included; i contiguous */
    /* Inner cells along i and j that the arrays of a part of the grid hold; 0: all. */
    uint64_t held_i, held_j;
} wfi_himeno_problem;

typedef struct wfi_vector_problem {
    uint64_t count;
    wf_vector_operation operation;
} wfi_vector_problem;

/* Cells along an axis; end 0: all. */
typedef struct wfi_stencil_span {
    uint32_t first, end;
} wfi_stencil_span;

/* A part of a grid along its slowest axis: what is updated, and what the arrays hold. */
typedef struct wfi_stencil_part {
    uint32_t first, planes; /* planes 0: all, and the arrays hold all */
    int64_t origin;         /* the grid's plane that is the arrays' first */
    uint32_t held, steps;   /* steps: of a pass */
    bool ends; /* what the arrays hold is all there is: planes are counted from their first */
    wfi_stencil_span i, j; /* that are updated; where they begin and end within the grid, along i at
                            * multiples of WFI_STENCIL_ROW_UNIT and behind what a pass reads */
} wfi_stencil_part;

typedef struct wfi_stencil_problem {
    uint64_t nx, ny, nz; /* cells; nz counts in three dimensions only */
    uint64_t row_stride; /* elements */
    uint32_t dimensions; /* 2 or 3 */
    wf_stencil_shape shape;
    uint32_t radius;
    wf_border border;
    uint32_t steps; /* of one recording */
    bool stoppable; /* coefficients are the caller's, with a flag behind them that ends the work */
    uint64_t plane_rows; /* rows from one plane to the next; 0: ny */
    uint64_t unit_x;     /* nx of a recording is any multiple of it; 0: nx is fixed */
    wfi_stencil_part part;
} wfi_stencil_problem;

typedef struct wfi_problem {
    wf_family family;
    wf_type type;
    union {
        wfi_matmul_problem matmul;
        wfi_spmv_problem spmv;
        wfi_himeno_problem himeno;
        wfi_vector_problem vector;
        wfi_stencil_problem stencil;
    };
} wfi_problem;

typedef struct wfi_variant wfi_variant;

/* Ids of a family's parameters are below this; shaders do not have those from WFI_HOST_IDS on. */
#define WFI_PARAMETER_IDS 80
#define WFI_HOST_IDS 64

/* A point of the search space: one variant with a value for each of its parameters. */
typedef struct wfi_point {
    const wf_caps *caps;
    const wfi_problem *problem;
    const wfi_variant *variant;
    uint32_t values[WFI_PARAMETER_IDS]; /* by the parameters' ids; those of other variants: 0 */
    /* What was measured of the device, for the model; NULL: nothing. It lives as long as the
     * device. */
    const struct wfi_rates *rates;
} wfi_point;

/* Bytes of one execution that are counted from the algorithm; 0: not counted. */
typedef struct wfi_traffic {
    double requested;   /* of memory by work-items: each load and store */
    double stored;      /* of those, stores */
    double shared;      /* of shared memory, likewise */
    double groups;      /* of memory by work-groups: each byte once a group */
    double work_groups; /* how many there are; not bytes */
    wf_tile_order tile_order;
} wfi_traffic;

typedef struct wfi_parameter {
    const char *name;
    uint32_t id; /* from <family>_ids.h; below WFI_HOST_IDS a specialization constant too */
    uint32_t default_value;
    uint32_t candidate_count;
    const uint32_t *candidates;
    const char *meaning;
} wfi_parameter;

typedef struct wfi_constraint {
    const char *reason; /* a full clause: "tile_m must be a multiple of thread_m, since …" */
    bool (*holds)(const wfi_point *point);
} wfi_constraint;

/* Optional device features that a variant may need. */
enum {
    WFI_NEEDS_F16_ARITHMETIC = 1 << 0,
    WFI_NEEDS_F16_STORAGE = 1 << 1,
    WFI_NEEDS_F64 = 1 << 2,
    WFI_NEEDS_SUBGROUP_SIZE_CONTROL = 1 << 3,
    WFI_NEEDS_FULL_SUBGROUPS = 1 << 4,
    WFI_NEEDS_COOPERATIVE_MATRIX = 1 << 5,
    WFI_NEEDS_COOPERATIVE_MATRIX2 = 1 << 6,
    WFI_NEEDS_BF16 = 1 << 7,
    WFI_NEEDS_INT8 = 1 << 8,
    WFI_NEEDS_INTEGER_DOT = 1 << 9,
    WFI_NEEDS_INT64 = 1 << 10,
    WFI_PACKED_16BIT = 1 << 30, /* takes 16-bit types as packed words: no storage feature */
};

/* Of modules, in the order of wfi_variant's. */
enum { WFI_MODULE, WFI_MODULE_SECOND, WFI_MODULE_FEW_STEPS, WFI_MODULE_KINDS };

struct wfi_variant {
    const char *name;
    const char *summary;                     /* what it does, in one line */
    const char *source;                      /* where it comes from, "" if our own */
    const wfi_spirv *modules[WF_TYPE_COUNT]; /* NULL: the variant does not do the type */
    /* Modules of a second kernel that the same parameters specialize, where one module with a
     * constant would not do; NULL: none. */
    const wfi_spirv *second[WF_TYPE_COUNT];
    const wfi_spirv *few_steps[WF_TYPE_COUNT]; /* likewise, of one whose loop takes few passes */
    /* Those of all three for matrices whose rows begin at any element; NULL: the same ones. */
    const wfi_spirv *any_rows[WFI_MODULE_KINDS][WF_TYPE_COUNT];
    uint32_t parameter_count;
    const wfi_parameter *parameters;
    uint32_t constraint_count;
    const wfi_constraint *constraints;
    uint32_t needs;               /* WFI_NEEDS_… */
    uint32_t subgroup_operations; /* VkSubgroupFeatureFlags */
    uint32_t storage_buffers;     /* bindings there are */
    /* Bit i: binding i is a uniform texel buffer instead, of the format that the step names; a plan
     * that binds a caller's buffer so must keep its sets. */
    uint32_t texel_buffers;
    uint32_t storage_images;  /* bit i: binding i is a storage image of the caller's instead */
    uint32_t uniform_buffers; /* likewise, a uniform buffer, of 16 KiB at most */
    uint32_t push_bytes;
    uint32_t traits; /* properties of the kernel, in bits of the family's own */
    uint64_t (*shared_bytes)(const wfi_point *point); /* NULL: none */
    /* The work-group size, which goes to constants 0, 1, 2. */
    void (*group_size)(const wfi_point *point, uint32_t size[3]);
    /* Subgroup size to pin, 0 for none; NULL: none. */
    uint32_t (*subgroup_size)(const wfi_point *point);
    /* Constants beyond the parameters and the work-group size; appends to desc. NULL: none. */
    void (*constants)(const wfi_point *point, wfi_pipeline_desc *desc);
    /* The model: fills point->values with good legal values for point->caps and point->problem and
     * returns the expected time in arbitrary but comparable units of the family (lower is
     * better; < 0: not for this problem). */
    double (*fit)(wfi_point *point);
    /* The model's time of any legal point, in the unit of fit; < 0: it knows none. NULL: it knows
     * that of its own values alone. */
    double (*expect)(const wfi_point *point);
    /* Sets the values that depend on the exact size of the problem in a point that was measured for
     * a similar one. NULL: there are none. */
    void (*refit)(wfi_point *point);
    /* Counts what its work-items request; NULL: nobody has counted. */
    void (*traffic)(const wfi_point *point, wfi_traffic *out);
    /* Counts how its lanes reach memory; *out is zero. NULL: nobody has counted. */
    void (*access)(const wfi_point *point, wf_access *out);
    /* Adds pipelines and steps to the plan. */
    wf_result (*build)(wf_plan *plan, const wfi_point *point, const void *params);
};

typedef struct wfi_family {
    const char *name;
    const char *summary;
    const char *work; /* what a dispatch of a variant's own kernel does, in a word */
    uint32_t variant_count;
    const wfi_variant *const *variants; /* [0]: the reference, legal everywhere */
    double (*flops)(const wfi_problem *problem);
    double (*least_bytes)(const wfi_problem *problem);
    const struct wfi_family_hooks *hooks; /* plan/hooks.h */
} wfi_family;

/* point.c: whether the point may run on point->caps. *reason (if not NULL) gets one clause. */
bool wfi_point_legal(const wfi_point *point, char reason[256]);
/* Whether the reference variant has a module for the type: the others have no more types. */
bool wfi_family_has_type(const wfi_family *family, wf_type type);
/* Whether the parameter of that id is one of the variant's. */
bool wfi_variant_has(const wfi_variant *variant, uint32_t id);
/* The value of a parameter, `otherwise` where the variant has none of that id. */
uint32_t wfi_point_value(const wfi_point *point, uint32_t id, uint32_t otherwise);
/* Sets a parameter where the variant has it. */
void wfi_point_set(wfi_point *point, uint32_t id, uint32_t value);
/* Parameter i of the variant, in the order of its table. */
uint32_t wfi_point_get(const wfi_point *point, uint32_t i);
void wfi_point_put(wfi_point *point, uint32_t i, uint32_t value);
/* What the model expects of the point, in the unit of fit; negative: it knows nothing. */
double wfi_point_expected(const wfi_point *point);
/* The place of the value among the parameter's candidates; their count: it is none of them. */
uint32_t wfi_candidate_find(const wfi_parameter *parameter, uint32_t value);
/* Fills values with the parameters' defaults. */
void wfi_point_defaults(wfi_point *point);
/* The pipeline description of a point: constants 0-2, parameters, extra constants. */
void wfi_point_pipeline(const wfi_point *point, wfi_pipeline_desc *desc);
uint32_t wfi_variant_find(const wfi_family *family, const char *name);     /* UINT32_MAX: none */
uint32_t wfi_parameter_find(const wfi_variant *variant, const char *name); /* UINT32_MAX: none */

/* A point, who picked it, and the family it is of. */
typedef struct wfi_choice {
    wfi_point point;
    const char *chosen_by;
    const wfi_family *family;
} wfi_choice;

/* describe.c: what a choice is, but for its dispatches and its kernel. */
wf_plan_info wfi_describe_choice(const wfi_choice *choice);
void wfi_describe_pipeline(const wfi_point *point, const wfi_pipeline *pipeline, uint64_t groups,
                           wf_kernel_info *kernel);
/* The variant's module of a kind (WFI_MODULE…), for rows of vectors; NULL: there is none. */
const wfi_spirv *wfi_variant_module(const wfi_variant *variant, int kind, wf_type type);
/* Whether a module is the variant's own, and none that copies, clears or adds partial sums. */
bool wfi_is_main_kernel(const wfi_point *point, const wfi_spirv *spirv);
/* Whether the driver says that the kernel keeps registers in memory. */
bool wfi_kernel_spills(const wf_kernel_info *kernel);

#endif
