// The diagonals of a slice of neighbouring rows, one after the other from the lowest on; lane r
// goes along row r.
struct Diagonals {
    uint row, next, end; // of this lane
    uint count;
    int lowest;     // the diagonal that was found last
    uint matched;   // this lane's row's entry there, or NONE
    bool of_all;    // all rows have one
    bool done, bad; // no row has another; a row's columns do not ascend
};

#ifndef SHUFFLES
shared int next_diagonal[2];
shared uint rows_with[2]; // how many rows have an entry there
shared uint fails;
shared uint matches[2 * SIZE]; // the rows' entries there, or NONE
#endif

Diagonals diagonals_of(Slice s)
{
    uint local = LANE;
    Diagonals d = Diagonals(0, 0, 0, 0, 0, NONE, false, false, false);
    if (local < s.rows) {
        d.row = row_at(s.at) + local;
        d.next = row_offsets[d.row];
        d.end = row_offsets[d.row + 1];
    }
#ifndef SHUFFLES
    if (local == 0) {
        next_diagonal[0] = 0x7fffffff;
        rows_with[0] = fails = 0;
    }
    barrier();
#endif
    return d;
}

// Goes to the next diagonal. All work-items call it alike, until done or bad.
void next(Slice s, inout Diagonals d)
{
    uint local = LANE, set = d.count & 1;
    bool there = d.next < d.end, descends = false;
    int diagonal = there ? int(column_indices[d.next]) - int(d.row) : 0;
#ifdef SHUFFLES
    d.lowest = team_min(there ? diagonal : 0x7fffffff);
#else
    if (there)
        atomicMin(next_diagonal[set], diagonal);
    barrier();
    d.lowest = next_diagonal[set];
#endif
    bool matched = there && diagonal == d.lowest;
    d.matched = matched ? d.next : NONE;
    if (matched) {
        d.next++;
        descends = d.next < d.end && int(column_indices[d.next]) - int(d.row) <= diagonal;
    }
#ifdef SHUFFLES
    // Bit 0: all rows match; bit 1: none descends; bit 2: none matches.
    uint all = (matched || local >= s.rows ? 1 : 0) | (descends ? 0 : 2) | (matched ? 0 : 4);
    for (uint distance = 1; distance < SIZE; distance *= 2)
        all &= subgroupShuffleXor(all, distance);
    d.of_all = (all & 1) != 0;
    d.bad = d.bad || (all & 2) == 0;
    d.done = (all & 4) != 0;
#else
    matches[set * SIZE + local] = d.matched;
    if (matched)
        atomicAdd(rows_with[set], 1);
    if (descends)
        fails = 1;
    if (local == 0) {
        next_diagonal[1 - set] = 0x7fffffff;
        rows_with[1 - set] = 0;
    }
    barrier();
    d.of_all = rows_with[set] == s.rows;
    d.bad = fails != 0;
    d.done = rows_with[set] == 0;
#endif
    d.count += d.done ? 0 : 1;
}

// The place in a list of offsets of diagonal `number`.
uint offset_place(Slice s, uint number)
{
    uint step = SIZE >> s.log_height, slot = number / step;
    return 4 + SIZE + (slot / 4 * step + number % step) * 4 + slot % 4;
}

// Whether this lane multiplies diagonal `number`.
bool is_own(Slice s, uint number)
{
    return LANE >> s.log_height == number % (SIZE >> s.log_height);
}

// The entry of this lane's row on the diagonal that was found last, or NONE.
uint match_of(Slice s, Diagonals d)
{
    uint r = LANE & ((1u << s.log_height) - 1);
#ifdef SHUFFLES
    return subgroupShuffle(d.matched, r);
#else
    return matches[(d.count - 1 & 1) * SIZE + r];
#endif
}
