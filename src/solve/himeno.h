/* The Himeno object. p is cut into blocks, each of which fits an allocation; coefficients are cut
 * into slabs, each of which fits a binding. */
#ifndef WFI_SOLVE_HIMENO_H
#define WFI_SOLVE_HIMENO_H

#include "core/buffer.h"
#include "core/command.h"
#include "kernels/himeno/himeno.h"
#include "solve/halo_boxes.h"

#define WFI_HIMENO_MAX_ROWS 512 /* iterations a submission */

/* Consecutive planes of p in one pair of buffers, with copies of the neighbouring blocks'
 * planes. */
typedef struct wfi_himeno_block {
    uint32_t first, planes; /* inner planes that are updated here */
    uint32_t origin;        /* the grid's plane (borders counted) that is the buffers' first */
    uint32_t held;          /* planes in the buffers */
    wf_buffer *p[2];
    wf_buffer *mirror; /* the host's p, where it is moved between iterations; else NULL */
} wfi_himeno_block;

typedef struct wfi_himeno_slab_data {
    uint32_t block;
    uint32_t first; /* inner plane of the grid */
    wfi_himeno_slab slab;
    wf_buffer *cells, *mirror;
} wfi_himeno_slab_data;

/* What a dispatch updates: a slab, or of a block of the grid a part of one along i and j. */
typedef struct wfi_himeno_piece {
    uint32_t slab;
    bool early; /* it has cells that a subdomain's neighbours need */
    wfi_himeno_slab what;
} wfi_himeno_piece;

/* A way to advance: a point, and its plan for each piece. */
typedef struct wfi_himeno_pass {
    wfi_point point;
    uint32_t steps;  /* iterations a pass */
    uint32_t groups; /* partial sums a step */
    uint32_t rows;   /* steps that the buffer of partial sums has room for */
    wf_plan **plans; /* a piece */
    wf_plan *sum;
    double seconds; /* of a pass, as last seen; 0: not yet */
} wfi_himeno_pass;

struct wf_himeno {
    wf_device *device;
    wf_himeno_params params;
    wfi_problem problem;
    wfi_choice choice;
    wfi_himeno_layout layout;
    uint32_t block_count, slab_count, piece_count;
    wfi_himeno_block *blocks;
    wfi_himeno_slab_data *slabs;
    wfi_himeno_piece *pieces; /* those of a slab behind each other */
    /* [0]: the chosen point; [1]: one iteration a pass, for the remainder of a count. */
    wfi_himeno_pass passes[2];
    uint32_t pass_count;
    wf_buffer *partials, *gosa;
    uint32_t region;    /* iterations at whose ends all arrays go to the device and p comes back;
                           0: data stay on the device */
    uint32_t in_region; /* iterations made of the one under way */
    bool part;          /* of p, the rows of inner cells alone are moved */
    bool copy_back;     /* the new p is copied over the old one */
    uint32_t submit;    /* passes a submission, which is timed by the host; 0: as many as fit */
    uint32_t now;       /* which of a block's p is current */
    /* The inner planes that are updated here: all of the grid's, or a subdomain's. */
    uint32_t begin, end;
    bool subdomain;
    /* The subdomain along i, j and k, in inner cells. A block does not have all rows, or not all
     * cells of them, and then exchanges boxes of cells. */
    wfi_part_axis axes[3];
    bool is_block;
    wfi_himeno_span span_i, span_j;   /* what its slabs update of the cells that p holds */
    wfi_halo_copier copier;           /* a block's */
    wfi_halos halos;                  /* a subdomain's */
    const wfi_himeno_pass *last_pass; /* that wf_himeno_pass made; NULL: none */
    wfi_part_passes halved;           /* the passes of a subdomain, which go in two parts */
    const wfi_himeno_pass *under_way; /* between wf_himeno_pass_begin and its end; else NULL */
};

/* Which p is current after `passes` more passes. */
uint32_t wfi_himeno_p_after(const wf_himeno *h, uint32_t passes);
enum { WFI_HIMENO_EARLY = 1, WFI_HIMENO_LATE = 2, WFI_HIMENO_ALL = 3 };
/* Records the pieces of a pass from block->p[p] that are early, or late, or all. */
wf_result wfi_himeno_record_slabs(wf_himeno *h, const wfi_himeno_pass *pass,
                                  VkCommandBuffer command_buffer, uint32_t row, uint32_t p,
                                  int which);
/* Records what comes behind the slabs of such a pass: copies between blocks. */
void wfi_himeno_record_rest(const wf_himeno *h, VkCommandBuffer command_buffer, uint32_t p);
/* Records a pass from block->p[p] to the other one, with the copies between blocks; partial sums go
 * to `row` and the ones behind it. */
wf_result wfi_himeno_record_pass(wf_himeno *h, const wfi_himeno_pass *pass,
                                 VkCommandBuffer command_buffer, uint32_t row, uint32_t p);
/* Makes the blocks and slabs, without their memory, and their pieces. */
wf_result wfi_himeno_split(wf_himeno *h);
wf_result wfi_himeno_make_pieces(wf_himeno *h);
/* Where an axis is cut at least, cuts[0] = 0 up to `count` of `cells`: behind the cells that
 * neighbours need (`there`), which are updated before the others, and at multiples of `group`, so
 * that the partial sums of gosa are those of the whole. Returns how many parts there are. */
uint32_t wfi_himeno_cut_axis(const bool there[WFI_SIDES], uint32_t cells, uint32_t steps,
                             uint32_t group, uint32_t cuts[4]);
/* Whether neighbours need cells of part n of so many. */
bool wfi_himeno_is_early(const bool there[WFI_SIDES], uint32_t n, uint32_t parts);
/* Puts the partial sums of a pass into the order of a block's planes, rows and cells. */
void wfi_himeno_sort_pieces(const wf_himeno *h, const wfi_himeno_pass *pass, const float *partials,
                            float *sorted);
/* Fails where the variant chosen cannot be cut into subdomains. */
wf_result wfi_himeno_require_cuts(const wf_himeno *h, const char *function);
/* Reads and checks the parameters and chooses a variant; h->device is set. */
wf_result wfi_himeno_prepare(wf_himeno *h, const char *function, const wf_himeno_params *given);

#endif
