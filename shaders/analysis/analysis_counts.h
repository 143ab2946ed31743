/* Words of what the device counts of a matrix (wfi_spmv_counts); read by GLSL and C. Numbers of 64
 * bits have their low word first. */
#ifndef ANALYSIS_COUNTS_H
#define ANALYSIS_COUNTS_H

#define COUNTS_BAD_ROW 0   /* the first offset that is below the one before; 2^32 - 1: none */
#define COUNTS_BAD_ENTRY 1 /* the first entry whose column is not in the matrix; likewise */
#define COUNTS_SHORTEST 2
#define COUNTS_LEAST 3 /* words before this one are least values, the others sums and largest */
#define COUNTS_LONGEST 3
#define COUNTS_BANDWIDTH 4
#define COUNTS_SQUARES 5
#define COUNTS_TAKEN 7
#define COUNTS_NEEDED 9
#define COUNTS_BLOCK_ENTRIES 11 /* 64 bits a side */
#define COUNTS_BLOCKS 17
#define COUNTS_HISTOGRAM 23
#define COUNTS_FIRST 56   /* the first row offset */
#define COUNTS_ENTRIES 57 /* the last one */
#define COUNTS_WORDS 58

#endif
