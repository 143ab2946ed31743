// What becomes of a row by its length, as src/kernels/spmv/formats/sliced.c and equal.c say.
layout(constant_id = 3) const uint EQUAL = 0; // 1: for equal blocks, 0: for sliced rows
layout(push_constant) uniform Push {
    uint rows;
    uint subgroup;
    uint direct; // rows of more entries are multiplied by several subgroups
    uint row_subgroups;
    uint window;
    uint most;     // rows times their longest length that a slice has room for
    uint shared_rows, shared_slices;
    uint keys_at, order_at, state_at; // in the work of the rows
    uint tiles_at, supers_at, entries_at;
    uint list_at, info_at, loads_at, segments_at; // in the work of the slices
    uint in_order;      // 1: rows are not sorted, and order_at is not filled
    uint ordered;       // rows that one subgroup multiplies; NOT_KNOWN: the state has them
    uint above, upto;   // EQUAL: only rows of more and at most so many entries are taken, but empty
                        // ones too where above is 0
    uint block_entries; // EQUAL: that a block has room for
} push;

const uint SEGMENT_LOADS = 4, GROUP_ROW_LOADS = 8; // as in sliced.c
// Of rows that one subgroup multiplies, where there are others: their classes are below, and last
// among them rows that are not taken.
const uint FIRST_KEY = 15;
const uint LOCAL_WINDOW = 256; // rows; windows up to it are sorted by analysis_window
const uint NOT_KNOWN = 0xffffffffu;

// Words of the state.
const uint STATE_SHARED_ROWS = 0, STATE_SHARED_SLICES = 1, STATE_SEGMENT_SLICES = 2,
           STATE_LONG_ROWS = 3, STATE_SLICES = 4, STATE_ORDERED = 5;

// Rows that one subgroup multiplies.
uint ordered_rows()
{
    return push.ordered == NOT_KNOWN ? work[push.state_at + STATE_ORDERED] : push.ordered;
}

bool is_taken(uint length)
{
    return EQUAL == 0 || ((length > push.above || push.above == 0) && length <= push.upto);
}

bool is_segmented(uint length)
{
    if (EQUAL != 0)
        return length > push.direct && length > push.row_subgroups * push.block_entries;
    uint most =
        push.row_subgroups > 1 ? push.row_subgroups * GROUP_ROW_LOADS * 4 * push.subgroup : 0;
    return length > push.direct && length > most;
}

uint row_subgroups_of(uint length)
{
    uint count = 1;
    if (is_segmented(length))
        return push.row_subgroups;
    while (EQUAL != 0 && count * push.block_entries < length)
        count *= 2;
    while (EQUAL == 0 && length > push.direct && count < push.row_subgroups &&
           count * SEGMENT_LOADS * 4 * push.subgroup < length)
        count *= 2;
    return count;
}

// Entries of a segment.
uint segment_entries()
{
    return push.row_subgroups *
           (EQUAL != 0 ? push.block_entries : SEGMENT_LOADS * 4 * push.subgroup);
}

uint divide_up(uint value, uint by)
{
    return value / by + (value % by != 0 ? 1 : 0);
}

// Slices of a row that several subgroups multiply.
uint shared_slices_of(uint length)
{
    return row_subgroups_of(length) *
           (is_segmented(length) ? divide_up(length, segment_entries()) : 1);
}
