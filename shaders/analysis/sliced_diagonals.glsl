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

shared int next_diagonal[2];
shared uint rows_with[2]; // how many rows have an entry there
shared uint fails;
shared uint matches[2 * SIZE]; // the rows' entries there, or NONE

Diagonals diagonals_of(Slice s)
{
    uint local = LANE;
    Diagonals d = Diagonals(0, 0, 0, 0, 0, NONE, false, false, false);
    if (local < s.rows) {
        d.row = row_at(s.at) + local;
        d.next = row_offsets[d.row];
        d.end = row_offsets[d.row + 1];
    }
    if (local == 0) {
        next_diagonal[0] = 0x7fffffff;
        rows_with[0] = fails = 0;
    }
    barrier();
    return d;
}

// Goes to the next diagonal. All work-items call it alike, until done or bad.
void next(Slice s, inout Diagonals d)
{
    uint local = LANE, set = d.count & 1;
    bool there = d.next < d.end, descends = false;
    int diagonal = there ? int(column_indices[d.next]) - int(d.row) : 0;
    if (there)
        atomicMin(next_diagonal[set], diagonal);
    barrier();
    d.lowest = next_diagonal[set];
    bool matched = there && diagonal == d.lowest;
    d.matched = matched ? d.next : NONE;
    if (matched) {
        d.next++;
        descends = d.next < d.end && int(column_indices[d.next]) - int(d.row) <= diagonal;
    }
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
    return matches[(d.count - 1 & 1) * SIZE + r];
}
