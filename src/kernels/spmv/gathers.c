#include "kernels/spmv/gathers.h"

#include <math.h>

#include "core/architectures.h"
#include "core/arithmetic.h"
#include "kernels/spmv/variant.h"
#include "profiles/spmv.h"

#define ALIKE 0.5           /* deviation of row lengths over their mean, at most */
#define LONE_FILL 0.28      /* of blocks of 2 x 2; an entry that stands alone fills a quarter */
#define SECTOR_BYTES 32.0   /* that a cache asks for at once */
#define ROWS_AT_ONCE 1024.0 /* of a compute unit: subgroups that hide latency, by their lanes */
#define LEAST_USES 0.5      /* of a sector by these rows: below, their order changed nothing */

double wfi_spmv_reach_bytes(const wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    return (double)wfi_least(p->columns, 2 * p->bandwidth + 1) * (double)wfi_spmv_real_bytes(point);
}

bool wfi_spmv_rows_alike(const wfi_spmv_problem *p)
{
    return p->row_deviation <= ALIKE * p->mean_row;
}

bool wfi_spmv_reads_all_over(const wfi_point *point)
{
    const uint64_t cache = wfi_spmv_profile_of(point->caps)->gather_cache;
    const wfi_spmv_problem *p = &point->problem->spmv;
    return cache && wfi_spmv_reach_bytes(point) > (double)cache && p->bandwidth >= p->columns / 2 &&
           p->block == 2 && p->block_fill <= LONE_FILL && wfi_spmv_rows_alike(p) && !p->fused &&
           !p->strided;
}

bool wfi_spmv_shares_sectors(const wfi_point *point)
{
    const double sectors = wfi_spmv_reach_bytes(point) / SECTOR_BYTES;
    return ROWS_AT_ONCE * point->problem->spmv.mean_row >= LEAST_USES * sectors;
}

/* A large work-group is faster than several of 256, presumably since its rows keep pace. A compute
 * unit holds one of them, so that a last wave of few leaves units idle (H200, f32: 234,448 rows of
 * 115 entries, 1.7 a unit, 124.8 us and 161.9 by work-groups of 256; 162,045 of 19, 1.2 a unit,
 * 27.0 and 22.9). f64 takes twice the registers: those of 1024 lose, those of 512 gain
 * (171,189 of 69, 2.5 a unit, 80.9 us and 88.5). */
#define LARGE_LOCAL 1024
#define LARGE_LOCAL_F64 512
#define LEAST_FILLED 0.8 /* of the units, over all waves */

/* Takes the work-items of a compute unit; returns those of a work-group, or 0. */
static uint32_t fit_local(const wfi_point *point, double items)
{
    const wf_caps *caps = point->caps;
    const uint32_t large = point->problem->type == WF_TYPE_F64 ? LARGE_LOCAL_F64 : LARGE_LOCAL;
    const double groups = items / large;
    const bool fits = caps->max_invocations >= large && caps->max_group_size[0] >= large;
    const bool filled = groups >= 1 && groups >= LEAST_FILLED * ceil(groups);
    return point->problem->type != WF_TYPE_F16 && fits && filled ? large : 0;
}

/* Rows under way at once that have a lane each go through the columns of x at the same pace, so
 * that one finds in the first-level cache what another has read. With several lanes they are at
 * several places of x at once (H200, f32: 73,714 rows of 98 random columns 23.2 us by one lane,
 * 25.6 by two, 41.6 by four; 76,286 of 45 15.7 by one, 23.4 by two). So rows have the fewest lanes
 * with which there are slices enough. Few rows are longer than the mean by three deviations. */
#define MOST_LOADS 32     /* a slice, of four entries a lane */
#define LEAST_SLICES 12.0 /* a compute unit, which hide latency */

wfi_spmv_sweep wfi_spmv_fit_sweep(const wfi_point *point)
{
    const wfi_spmv_problem *p = &point->problem->spmv;
    const double units = wfi_units_of(point->caps);
    const double most = p->mean_row + 3 * p->row_deviation;
    const uint32_t subgroup = point->caps->subgroup_size;
    if (!wfi_spmv_reads_all_over(point) || !wfi_spmv_shares_sectors(point))
        return (wfi_spmv_sweep){.loads = 0};
    for (uint32_t lanes = 1; lanes <= subgroup; lanes *= 2) {
        const double items = (double)p->rows * lanes / units;
        uint32_t loads = 1;
        while (loads < MOST_LOADS && 4.0 * lanes * loads < most)
            loads *= 2;
        if (items >= LEAST_SLICES * subgroup && 4.0 * lanes * loads >= most)
            return (wfi_spmv_sweep){loads, fit_local(point, items)};
    }
    return (wfi_spmv_sweep){.loads = 0};
}
