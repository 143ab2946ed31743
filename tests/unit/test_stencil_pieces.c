/* How a part of a stencil's grid is cut into pieces, on random parts: each cell that a pass updates
 * is in one of them, what goes to neighbours is in those that are early, the inside reads none of
 * the cells that come from neighbours, and what begins within the grid reads none before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solve/stencil_slab.h"

#define SEED UINT64_C(20261123)
#define PARTS 300

typedef struct random_bits {
    uint64_t state;
} random_bits;

static uint32_t below(random_bits *random, uint32_t bound)
{
    random->state = random->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random->state >> 33) % bound;
}

/* Along i and j a part has as many cells as a halo at least. */
static void make_part(random_bits *random, wf_stencil_slab *s)
{
    *s = (wf_stencil_slab){.cut = {.halo = 1 + below(random, 4)}};
    for (int axis = 0; axis < 3; axis++) {
        wfi_part_axis *a = &s->axes[axis];
        a->begin = s->cut.halo + below(random, 5);
        a->end = a->begin + s->cut.halo + below(random, axis == 0 ? 150 : 12);
        a->there[WFI_LOWER] = below(random, 2);
        a->there[WFI_UPPER] = below(random, 2);
    }
}

/* Where a piece lies, counted as the part's axes are. */
static void place(const wf_stencil_slab *s, const wfi_stencil_piece *piece, int64_t from[3],
                  int64_t to[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const int64_t shift = axis == 2 ? 0 : wfi_stencil_held_from(s, axis);
        from[axis] = shift + piece->begin[axis];
        to[axis] = shift + piece->end[axis];
    }
}

/* Cells that a piece, `more` cells wider on each side, has of a box. */
static uint64_t common(const wf_stencil_slab *s, const wfi_stencil_piece *piece, int64_t more,
                       const wfi_halo_box *box)
{
    int64_t from[3], to[3];
    uint64_t cells = 1;
    place(s, piece, from, to);
    for (int axis = 0; axis < 3; axis++) {
        const int64_t end = box->first[axis] + box->cells[axis];
        const int64_t low = from[axis] - more > box->first[axis] ? from[axis] - more
                                                                 : box->first[axis],
                      high = to[axis] + more < end ? to[axis] + more : end;
        cells *= high > low ? (uint64_t)(high - low) : 0;
    }
    return cells;
}

/* What a pass updates: of k the part's own planes, along i and j all that is held. */
static wfi_halo_box updated(const wf_stencil_slab *s)
{
    wfi_halo_box box;
    for (int axis = 0; axis < 3; axis++) {
        const wfi_part_axis *a = &s->axes[axis];
        box.first[axis] = axis == 2 ? (int64_t)a->begin : wfi_stencil_held_from(s, axis);
        box.cells[axis] = axis == 2 ? a->end - a->begin : wfi_stencil_held_cells(s, axis);
    }
    return box;
}

static bool pieces_meet(const wf_stencil_slab *s)
{
    for (uint32_t n = 0; n < s->piece_count; n++)
        for (uint32_t m = 0; m < n; m++) {
            int64_t from[3], to[3];
            wfi_halo_box box;
            place(s, &s->pieces[m], from, to);
            for (int axis = 0; axis < 3; axis++) {
                box.first[axis] = from[axis];
                box.cells[axis] = (uint32_t)(to[axis] - from[axis]);
            }
            if (common(s, &s->pieces[n], 0, &box))
                return true;
        }
    return false;
}

/* Along i and j, where a piece that reads beyond the grid's first cell must begin there. */
static bool reads_before_grid(const wf_stencil_slab *s)
{
    for (uint32_t n = 0; n < s->piece_count; n++)
        for (int axis = 0; axis < 2; axis++)
            if (s->pieces[n].begin[axis] > 0 && s->pieces[n].begin[axis] < s->cut.halo)
                return true;
    return false;
}

static bool is_right(const wf_stencil_slab *s)
{
    const wfi_halo_box all = updated(s);
    uint64_t cells = 0;
    for (uint32_t n = 0; n < s->piece_count; n++)
        cells += common(s, &s->pieces[n], 0, &all);
    if (cells != wfi_halo_box_cells(&all) || pieces_meet(s) || reads_before_grid(s))
        return false;
    for (int side = 0; side < WF_HALO_SIDES; side++) {
        wfi_halo_box to, from;
        uint64_t early = 0;
        if (!wfi_halo_box_to(s->axes, s->cut.halo, side, &to))
            continue;
        assert_true(wfi_halo_box_from(s->axes, s->cut.halo, side, &from));
        for (uint32_t n = 0; n < s->piece_count; n++)
            if (s->pieces[n].early)
                early += common(s, &s->pieces[n], 0, &to);
            else if (common(s, &s->pieces[n], s->cut.halo, &from))
                return false;
        if (early != wfi_halo_box_cells(&to))
            return false;
    }
    return true;
}

/* Planted faults: an inside that is a cell larger on a side where there is a neighbour, and one
 * that is a cell smaller. */
static void check_faults(const wf_stencil_slab *part, int axis)
{
    wf_stencil_slab s = *part;
    wfi_stencil_piece *inside = &s.pieces[s.piece_count - 1];
    const wfi_stencil_piece was = *inside;
    if (s.axes[axis].there[WFI_LOWER]) {
        inside->begin[axis]--;
        assert_false(is_right(&s));
        *inside = was;
    }
    if (s.axes[axis].there[WFI_UPPER]) {
        inside->end[axis]++;
        assert_false(is_right(&s));
        *inside = was;
    }
    inside->end[axis]--;
    assert_false(is_right(&s));
}

static void pieces_are_the_part(void **state)
{
    (void)state;
    random_bits random = {SEED};
    uint32_t insides = 0, most = 0;
    for (int n = 0; n < PARTS; n++) {
        wf_stencil_slab s;
        make_part(&random, &s);
        wfi_stencil_cut_pieces(&s);
        if (!is_right(&s))
            fail_msg("part %d of seed %llu", n, (unsigned long long)SEED);
        most = s.piece_count > most ? s.piece_count : most;
        if (!wfi_stencil_has_inside(&s))
            continue;
        insides++;
        for (int axis = 0; axis < 3; axis++)
            check_faults(&s, axis);
    }
    assert_true(insides > PARTS / 10 && insides < PARTS);
    assert_int_equal(most, WFI_STENCIL_MOST_PIECES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_are_the_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
