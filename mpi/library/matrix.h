/* A sparse matrix on many ranks. A rank's rows are kept in two parts: the inside, rows that need
 * its own elements of x alone, and the boundary, rows that need others'. A vector of x has the
 * rank's own elements and behind them the halo, others' elements in the order of their columns. */
#ifndef WFI_MPI_MATRIX_H
#define WFI_MPI_MATRIX_H

#include "pages.h"

/* Where a rank's own elements of a vector are in its buffer. */
typedef struct wfi_layout {
    uint32_t count;   /* own elements */
    uint32_t length;  /* what they take: a multiple of what bindings are aligned to */
    uint32_t *places; /* of each; NULL: one behind the other */
} wfi_layout;

/* What goes to other ranks, or comes from them, in the order of ranks. */
typedef struct wfi_traffic {
    int *counts, *offsets; /* by rank */
    uint32_t total;
    uint32_t *elements; /* sent: places in x; received: columns of the whole matrix */
    wf_buffer *buffer;  /* mapped */
} wfi_traffic;

/* What a rank tells its neighbour of the memory that it packs into. */
typedef struct wfi_offer {
    uint64_t slot_bytes; /* 0: other devices cannot have it */
    uint32_t total;      /* elements of a slot */
    uint32_t first;      /* of those for the neighbour */
} wfi_offer;

/* A rank that this one exchanges elements with. */
typedef struct wfi_peer {
    int rank;
    bool reads; /* this rank's device reads what it needs in the peer's memory */
    bool read;  /* and the peer's in this rank's */
    wfi_offer offer;
    wf_buffer *theirs; /* the peer's memory, where it is read */
    uint64_t theirs_at;
    wf_plan
        *unpack; /* its elements alone; NULL: those of all are taken at once, or there are none */
    uint64_t token; /* a message that says that elements are there */
} wfi_peer;

struct wf_mpi_matrix {
    wfi_ranks ranks;
    wf_device *device;
    wf_type type;
    uint32_t rows, columns;             /* of the whole */
    uint32_t *first_row, *first_column; /* by rank, and behind the last */
    bool alike;                         /* x is cut and laid out as y is */
    wfi_layout x, y;
    uint32_t inside_rows, boundary_rows, boundary_at;
    wfi_traffic sent, received;
    MPI_Request *requests; /* two for each neighbour */
    MPI_Status *statuses;
    wfi_peer *peers;
    int peer_count;
    /* The halo in x has each peer's elements from halo_at[rank] on, where a binding may begin. */
    uint32_t *halo_at, halo;
    /* Elements are packed into two slots in turn, since a rank may be one product ahead: what it
     * packs then is not what its neighbours still read. */
    wfi_pages pages;
    uint64_t slot_bytes;
    uint32_t turn;
    wf_plan *inside, *boundary, *pack, *unpack;
    /* Of a matrix to be solved: the inside's product leaves so many partial sums of the dot product
     * of x and y there; 0: none. */
    bool sums;
    uint32_t sum_count;
    wf_buffer *sum_buffer;
    wf_queue *queue;
    /* Packs, and takes halos, beside the inside (wfi_mpi_matrix_aside); NULL: `queue` does. */
    wf_queue *aside;
    uint64_t packed;      /* number of the execution that last packed; 0: none */
    uint64_t unpacked;    /* of the one that last read received.buffer; 0: none */
    bool inside_given;    /* of the product that is being made */
    uint64_t waits, late; /* insides that waited for halos, and how many of these were too late */
    bool failed;          /* nothing more can be done */
};

struct wf_mpi_vector {
    wf_mpi_matrix *matrix;
    const wfi_layout *layout;
    wf_buffer *buffer;
};

/* Elements that a binding's offset is a multiple of. */
uint32_t wfi_mpi_alignment(const wf_mpi_matrix *m);

/* Divides the rows into inside and boundary, and finds what is sent and received. Collective. */
wf_result wfi_mpi_matrix_lists(wf_mpi_matrix *m, const wf_mpi_matrix_params *params);
/* Shares the memory that elements are packed into with the peers of this host, where that can be.
 * Collective. */
wf_result wfi_mpi_matrix_share(wf_mpi_matrix *m);
/* Makes the plans of both parts and of packing and unpacking. */
wf_result wfi_mpi_matrix_plans(wf_mpi_matrix *m, const wf_mpi_matrix_params *params);

/* Where the elements for other ranks are packed in this turn: for the device, and for the host. */
wf_binding wfi_mpi_packed(const wf_mpi_matrix *m);
unsigned char *wfi_mpi_packed_mapped(const wf_mpi_matrix *m);

/* A plan of y = D x for a matrix of one entry a row, which is in the column columns[i] (NULL: i)
 * and has the value values[i] (NULL: 1). */
wf_result wfi_mpi_single_plan(const wf_mpi_matrix *m, uint32_t rows, uint32_t width,
                              const uint32_t *columns, const void *values, wf_plan **out);

/* wf_mpi_matrix_create; sums: products leave dot products where they can. */
wf_result wfi_mpi_matrix_create(MPI_Comm comm, wf_device *device,
                                const wf_mpi_matrix_params *params, bool sums, wf_mpi_matrix **out);

/* Where a vector is in device memory; its halo is behind it. */
typedef struct wfi_place {
    wf_buffer *buffer;
    uint64_t offset; /* in bytes */
} wfi_place;

/* Copy this rank's own elements, of the matrix's type. They block. */
wf_result wfi_mpi_place_write(const wf_mpi_matrix *m, const wfi_layout *layout, wfi_place place,
                              const void *own);
wf_result wfi_mpi_place_read(const wf_mpi_matrix *m, const wfi_layout *layout, wfi_place place,
                             void *own);

/* Gives y = A x to the queue and exchanges halos. A rank whose result so far, `own`, is an error
 * takes part in the exchange alone; what it returns is to be agreed on or reduced before the next
 * product. */
wf_result wfi_mpi_product(wf_mpi_matrix *m, wfi_place x, wfi_place y, wf_result own,
                          wf_mpi_times *times);

/* Makes a second queue for exchanges, where the device has one, so that they run beside the inside:
 * for products whose inside takes longer than an exchange. */
wf_result wfi_mpi_matrix_aside(wf_mpi_matrix *m);

/* The parts of a product, between which a caller gives other work. The first one gives the packing
 * of what others need of x to the queue, to be submitted by the caller, who may give the inside
 * behind it (wf_queue_mark). Where it is not given, the last one does so at once, or, where `busy`
 * is not 0, when the halo is there, so that the device takes it while it multiplies, or when it has
 * ended the execution `busy`, whichever comes first. */
wf_result wfi_mpi_product_pack(wf_mpi_matrix *m, wfi_place x);
wf_result wfi_mpi_product_inside(wf_mpi_matrix *m, wfi_place x, wfi_place y);
wf_result wfi_mpi_product_multiply(wf_mpi_matrix *m, wfi_place x, wfi_place y, uint64_t busy,
                                   wf_result own, wf_mpi_times *times);
/* Makes a whole product with a matrix that has `aside`, in place of all three. The caller may have
 * given the inside before. Elements of x are packed once the execution `written`, which leaves x,
 * has ended. */
wf_result wfi_mpi_product_exchange(wf_mpi_matrix *m, wfi_place x, wfi_place y, uint64_t written,
                                   wf_result own, wf_mpi_times *times);

#endif
