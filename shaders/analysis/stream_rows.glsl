// What the kernels that make blocks of neighbouring rows (src/kernels/spmv/formats/stream.h) share.
layout(push_constant) uniform Push {
    uint rows, block_rows, block_entries;
    uint tiles, runs;
    // Places in the work, words a row: the row behind the block that begins there; the row of a
    // later tile that blocks from there on come to, counted from the tile's first, and how many
    // they are, from LEAVES_BITS on.
    uint next_at, leaves_at;
    // Two words, a row that a block begins at and the blocks before it: for each row of a run that
    // blocks may enter it at, behind the run; where they enter each run; and each tile, or NONE.
    uint supers_at, runs_at, tiles_at;
    uint begins_at, lows_at; // words a block: its first row, its lowest column
    uint blocks, width, stride; // known once blocks are measured
} push;

const uint TILE = 2048, RUN_ROWS = 32 * TILE, LEAVES_BITS = 16;
const uint STATE_BLOCKS = 0, STATE_SPAN = 1; // words of the work
const uint NONE = 0xffffffffu;
