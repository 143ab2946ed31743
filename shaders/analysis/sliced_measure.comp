// MODULE sliced_measure
#version 450
#extension GL_GOOGLE_include_directive : require
// Finds how the columns of each slice are kept, and how many words that takes.
#include "analysis.glsl"
#include "sliced_slice.glsl"
#include "sliced_diagonals.glsl"

shared uint not_plain, hash;

// Whether the rows are neighbours in order, and none of them is empty beside others.
bool is_plain(Slice s)
{
    uint local = LANE, first = row_at(s.at);
    if (local < s.rows) {
        uint word = slices[push.list_at + s.at + local];
        if ((word & 0x7fffffffu) != first + local || (s.loads != 0 && word >> 31 != 0))
            not_plain = 1;
    }
    barrier();
    return not_plain == 0;
}

// What a word adds to the hash of a list of offsets, as in sliced_offsets.c.
uint mixed(uint word, uint place)
{
    return word * (place * 0x9e3779b1u | 1u);
}

// Whether the slice is kept by offsets. The hash of the list is then in `hash`.
bool has_offsets(Slice s)
{
    uint step = SIZE >> s.log_height, slots = 4 * s.loads * step;
    uint most = min(slots, MOST_DIAGONALS), bits = 0;
    bool found = false;
    Diagonals d = diagonals_of(s);
    for (next(s, d); !d.done && !d.bad && d.count <= most; next(s, d)) {
        uint number = d.count - 1, match = match_of(s, d);
        if (is_own(s, number) && match != NONE)
            bits |= 1u << (number / step);
        if (LANE == 0)
            hash += mixed(uint(d.lowest), offset_place(s, number)) +
                    (!found && d.of_all ? mixed(uint(d.lowest), 0) : 0);
        found = found || d.of_all;
    }
    barrier();
    atomicAdd(hash, mixed(bits, 4 + LANE));
    barrier();
    return d.done && !d.bad && found;
}

uint bucket_of(uint hash)
{
    hash ^= hash >> 15;
    hash *= 0x2c1b3c6du;
    hash ^= hash >> 12;
    return hash % BUCKETS;
}

uint measured_width(Slice s)
{
    Lane lane = lane_of(s);
    uint most = 0, column, entry, low, span;
    clear_set(0);
    barrier();
    for (uint slot = 0; slot < 4 * s.loads; slot++) {
        fill_slot(slot, lane, column, entry, low, span);
        most = max(most, span);
    }
    return width_of(most);
}

void main()
{
    uint number = group_number();
    if (number >= push.count)
        return;
    if (LANE == 0)
        not_plain = hash = 0;
    barrier();
    Slice s = slice_of(number);
    bool plain = s.of_one_row || is_plain(s);
    uint width = WITH_OFFSETS;
    if (s.of_one_row || !plain || s.loads == 0 || s.loads > MOST_OFFSET_LOADS ||
        s.rows != 1u << s.log_height || !has_offsets(s))
        width = measured_width(s);
    if (LANE == 0) {
        slices[push.kinds_at + number] = width | (plain ? 0 : KIND_LISTED);
        slices[push.keys_at + number] = width == WITH_OFFSETS ? bucket_of(hash) : BUCKETS;
        slices[push.words_at + number] =
            width == WITH_OFFSETS ? offset_words(s) : column_words(s, width);
    }
}
