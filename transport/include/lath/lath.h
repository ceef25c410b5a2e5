/* Lath's C API: noncontiguous messages between processes, out of and into host or GPU memory.
 *
 * Every function that can fail returns a lath_status; lath_last_error() then says what failed, on what, and
 * what to try, for the calling thread. Counts, displacements and sizes are 64-bit. "Bytes" are always bytes;
 * "count" is a number of elements of the type given beside it. Memory arguments may be host or GPU addresses,
 * found out by Lath; GPU memory must be ready (no kernel still writing it) when a send starts and is ready
 * when a receive completes.
 */
#ifndef LATH_LATH_H
#define LATH_LATH_H

#include <stddef.h>
#include <stdint.h>

#define LATH_VERSION_MAJOR 0
#define LATH_VERSION_MINOR 1
#define LATH_VERSION_PATCH 0

#if defined(__GNUC__)
#define LATH_API __attribute__((visibility("default")))
#else
#define LATH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lath_status {
  LATH_OK = 0,
  LATH_ERR_ARGUMENT = -1,
  LATH_ERR_PARSE = -2,
  LATH_ERR_TRUNCATED = -3,
  LATH_ERR_NO_MEMORY = -4,
  LATH_ERR_NOT_SUPPORTED = -5,
  LATH_ERR_UNREACHABLE = -6,
  LATH_ERR_CORRUPT = -7,
  LATH_ERR_PROVIDER = -8,
  LATH_ERR_GPU = -9,
  LATH_ERR_CANCELLED = -10,
  LATH_ERR_MEMORY_KIND = -11,
  LATH_ERR_BAD_ADDRESS = -12,
  LATH_ERR_INTERNAL = -13
} lath_status;

/* A fixed English phrase for a status; never NULL. Thread safe. */
LATH_API const char* lath_status_string(lath_status status);
/* The text of the calling thread's last failure; "" if there was none. Valid until that thread's next Lath
 * call. */
LATH_API const char* lath_last_error(void);
/* "0.1.0" */
LATH_API const char* lath_version(void);

/* ---- Datatypes (MPI-4.1 chapter 5). Handles are owned by the caller; a type may be freed while messages use
 * it. ---- */
typedef struct lath_type_s* lath_type;

/* Reads a type-spec, such as "vector(600,400,40000,double)", or a basic type, such as "double", for the
 * constructors below. A parse error names the column and what was expected. */
LATH_API lath_status lath_type_parse(const char* text, lath_type* type);
LATH_API lath_status lath_type_contiguous(int64_t count, lath_type inner, lath_type* type);
LATH_API lath_status lath_type_vector(int64_t count, int64_t block_length, int64_t stride, lath_type inner,
                                      lath_type* type);
LATH_API lath_status lath_type_hvector(int64_t count, int64_t block_length, int64_t stride_bytes,
                                       lath_type inner, lath_type* type);
LATH_API lath_status lath_type_indexed(int64_t count, const int64_t* block_lengths,
                                       const int64_t* displacements, lath_type inner, lath_type* type);
LATH_API lath_status lath_type_hindexed(int64_t count, const int64_t* block_lengths,
                                        const int64_t* displacements_bytes, lath_type inner, lath_type* type);
LATH_API lath_status lath_type_indexed_block(int64_t count, int64_t block_length,
                                             const int64_t* displacements, lath_type inner, lath_type* type);
LATH_API lath_status lath_type_hindexed_block(int64_t count, int64_t block_length,
                                              const int64_t* displacements_bytes, lath_type inner,
                                              lath_type* type);
LATH_API lath_status lath_type_struct(int64_t count, const int64_t* block_lengths,
                                      const int64_t* displacements_bytes, const lath_type* members,
                                      lath_type* type);
typedef enum lath_order { LATH_ORDER_C = 0, LATH_ORDER_FORTRAN = 1 } lath_order;
LATH_API lath_status lath_type_subarray(int64_t dimensions, const int64_t* sizes, const int64_t* subsizes,
                                        const int64_t* starts, lath_order order, lath_type inner,
                                        lath_type* type);
typedef enum lath_distribution {
  LATH_DISTRIBUTE_BLOCK = 0,
  LATH_DISTRIBUTE_CYCLIC = 1,
  LATH_DISTRIBUTE_NONE = 2
} lath_distribution;
#define LATH_DISTRIBUTE_DEFAULT ((int64_t)-1)
LATH_API lath_status lath_type_darray(int64_t size, int64_t rank, int64_t dimensions, const int64_t* gsizes,
                                      const lath_distribution* distributions, const int64_t* arguments,
                                      const int64_t* psizes, lath_order order, lath_type inner,
                                      lath_type* type);
LATH_API lath_status lath_type_resized(int64_t lower_bound, int64_t extent, lath_type inner, lath_type* type);
LATH_API lath_status lath_type_dup(lath_type inner, lath_type* type);
/* Drops the handle (NULL is ignored). */
LATH_API void lath_type_free(lath_type type);

/* Bytes of data, and the bounds, of one element. Any result pointer may be NULL. */
LATH_API lath_status lath_type_bounds(lath_type type, int64_t* size, int64_t* lower_bound, int64_t* extent,
                                      int64_t* true_lower_bound, int64_t* true_extent);
/* The type-spec, NUL-terminated, cut to capacity bytes; *needed (may be NULL) gets the whole length without
 * the NUL. */
LATH_API lath_status lath_type_text(lath_type type, char* text, size_t capacity, size_t* needed);

typedef struct lath_segment {
  int64_t offset; /* bytes from the buffer address, may be negative */
  int64_t length; /* bytes, positive */
} lath_segment;
/* Merged segments of count elements, in packed order, from segment number `first` on; *filled gets how many
 * were written (at most capacity), *total (may be NULL) how many there are. */
LATH_API lath_status lath_type_segments(lath_type type, int64_t count, int64_t first, lath_segment* segments,
                                        size_t capacity, size_t* filled, int64_t* total);
/* Copies packed bytes [packed_offset, packed_offset + bytes) of `count` elements at `buffer` to `packed`, or
 * back. Host or GPU memory on either side; returns when done. */
LATH_API lath_status lath_pack(const void* buffer, int64_t count, lath_type type, int64_t packed_offset,
                               int64_t bytes, void* packed);
LATH_API lath_status lath_unpack(void* buffer, int64_t count, lath_type type, int64_t packed_offset,
                                 int64_t bytes, const void* packed);

/* ---- Workers and peers ---- */
typedef struct lath_worker_s* lath_worker;
typedef struct lath_peer_s* lath_peer; /* owned by its worker */

typedef enum lath_thread_mode {
  LATH_THREAD_SINGLE = 0,     /* one thread makes all calls */
  LATH_THREAD_SERIALIZED = 1, /* any thread, never two at once */
  LATH_THREAD_MULTIPLE = 2    /* any threads at once */
} lath_thread_mode;

/* Opens the network. provider is "ofi:tcp", "ofi", ... or NULL for LATH_PROVIDER, or else the best that
 * works. LATH_ERR_PARSE where a LATH_* variable has a value that cannot be used. */
LATH_API lath_status lath_worker_create(const char* provider, lath_thread_mode mode, lath_worker* worker);
/* Closes. Outstanding requests end unfinished, and the handles of the worker's requests, peers, messages and
 * regions with them. NULL is ignored. */
LATH_API void lath_worker_destroy(lath_worker worker);
/* The provider in use, such as "ofi:shm"; valid as long as the worker. */
LATH_API const char* lath_worker_provider(lath_worker worker);
/* This worker's address, an opaque byte string for other processes' lath_connect. *length holds the capacity
 * on entry and the length on return; LATH_ERR_ARGUMENT if it does not fit. 1024 bytes are always enough. */
LATH_API lath_status lath_worker_address(lath_worker worker, void* address, size_t* length);
/* `source` is the number by which this worker names the peer in receives and statuses: any number >= 0, such
 * as its rank. Each pair of workers connects both ways, each with its own number for the other; a message
 * that comes before its receiver's lath_connect waits until then. A worker may connect to itself. */
LATH_API lath_status lath_connect(lath_worker worker, const void* address, size_t length, int32_t source,
                                  lath_peer* peer);

/* ---- Messages ---- */
typedef struct lath_request_s* lath_request;
#define LATH_ANY_SOURCE ((int32_t)-1)
#define LATH_ANY_TAG ((int64_t)-1)

typedef struct lath_message_status {
  int32_t source; /* the peer's number */
  int64_t tag;
  int64_t bytes; /* received or sent; what fits, where truncated */
  lath_status error;
} lath_message_status;

/* Matching follows MPI: (context, source, tag) with wildcards, in order between two workers. context keeps
 * communicators apart; tags are 0 to 2^62. The buffer belongs to Lath until the request completes. A request
 * is freed by the lath_test or lath_wait that completes it, unless it is persistent. Data moves only inside
 * calls on a worker: a send that has completed may still be on its way until the sender's later calls
 * (lath_progress), so keep calling, or make sure that the receiver has it, before lath_worker_destroy.
 * Buffers that are not there, may not be read or written, or reach past the end of device memory are refused
 * with LATH_ERR_BAD_ADDRESS. Short messages out of pages that an earlier one went through are taken on trust,
 * except with LATH_CHECK_BUFFERS=1. */
LATH_API lath_status lath_send(lath_peer peer, const void* buffer, int64_t count, lath_type type,
                               uint32_t context, int64_t tag, lath_request* request);
/* Completes only after the receiver has matched it (MPI_Issend). */
LATH_API lath_status lath_send_synchronous(lath_peer peer, const void* buffer, int64_t count, lath_type type,
                                           uint32_t context, int64_t tag, lath_request* request);
LATH_API lath_status lath_receive(lath_worker worker, void* buffer, int64_t count, lath_type type,
                                  int32_t source, uint32_t context, int64_t tag, lath_request* request);
/* Persistent requests keep their plan; lath_start makes them active, lath_wait inactive again,
 * lath_request_free ends them. */
LATH_API lath_status lath_send_init(lath_peer peer, const void* buffer, int64_t count, lath_type type,
                                    uint32_t context, int64_t tag, lath_request* request);
LATH_API lath_status lath_receive_init(lath_worker worker, void* buffer, int64_t count, lath_type type,
                                       int32_t source, uint32_t context, int64_t tag, lath_request* request);
LATH_API lath_status lath_start(lath_request request);
LATH_API lath_status lath_request_free(lath_request request);

/* *flag: whether a message that matches has arrived; status (may be NULL) tells its source, tag and bytes.
 * Makes progress. */
LATH_API lath_status lath_probe(lath_worker worker, int32_t source, uint32_t context, int64_t tag, int* flag,
                                lath_message_status* status);
/* Matched probe: takes the message out of matching; receive it with lath_receive_matched, which consumes the
 * handle. */
typedef struct lath_message_s* lath_message;
LATH_API lath_status lath_probe_matched(lath_worker worker, int32_t source, uint32_t context, int64_t tag,
                                        int* flag, lath_message* message, lath_message_status* status);
LATH_API lath_status lath_receive_matched(lath_message message, void* buffer, int64_t count, lath_type type,
                                          lath_request* request);

/* Moves data along; returns without waiting. */
LATH_API lath_status lath_progress(lath_worker worker);
/* *flag: whether the request has ended. If so *request becomes NULL (not for persistent ones) and status (may
 * be NULL) is filled; the return value is the request's own error. */
LATH_API lath_status lath_test(lath_request* request, int* flag, lath_message_status* status);
LATH_API lath_status lath_wait(lath_request* request, lath_message_status* status);
/* Waits for all, which may be of several workers; NULL entries are passed over; statuses may be NULL. Returns
 * the first error, after all have ended. */
LATH_API lath_status lath_wait_all(size_t count, lath_request* requests, lath_message_status* statuses);
/* Cancels a receive that has not matched; others go on. The request must still be waited for
 * (LATH_ERR_CANCELLED). */
LATH_API lath_status lath_cancel(lath_request request);

/* ---- One-sided ---- */
typedef struct lath_region_s* lath_region;
/* Opens [address, address + bytes) to peers' put and get; read-only memory to get alone. The target makes
 * progress in its own Lath calls. Destroy a region only when its peers' operations on it have completed:
 * later ones end with LATH_ERR_ARGUMENT. A key that was damaged is refused likewise, or opens no more than
 * there is. */
LATH_API lath_status lath_region_create(lath_worker worker, void* address, size_t bytes, lath_region* region);
LATH_API void lath_region_destroy(lath_region region);
/* The region's key, an opaque byte string for peers, as lath_worker_address. 256 bytes are always enough. */
LATH_API lath_status lath_region_key(lath_region region, void* key, size_t* length);
/* Moves origin_count elements at `origin` to target_count elements that lie `target_offset` bytes into the
 * peer's region; the two sides' packed sizes must be equal, and the target elements inside the region.
 * Completes when the data is in place at the target (put) or here (get). */
LATH_API lath_status lath_put(lath_peer peer, const void* origin, int64_t origin_count, lath_type origin_type,
                              const void* key, size_t key_length, int64_t target_offset, int64_t target_count,
                              lath_type target_type, lath_request* request);
LATH_API lath_status lath_get(lath_peer peer, void* origin, int64_t origin_count, lath_type origin_type,
                              const void* key, size_t key_length, int64_t target_offset, int64_t target_count,
                              lath_type target_type, lath_request* request);

/* ---- GPU memory, for programs that do not use CUDA themselves ---- */
/* 1 where this process has a GPU or the emulator (LATH_GPU); else 0, and lath_last_error() says why. */
LATH_API int lath_gpu_available(void);
LATH_API lath_status lath_gpu_alloc(size_t bytes, void** address);
LATH_API lath_status lath_gpu_free(void* address);
/* Any mix of host and GPU addresses; returns when done. */
LATH_API lath_status lath_gpu_copy(void* destination, const void* source, size_t bytes);

/* ---- Counters of a worker, by the names that `lath bench --json` uses; GPU driver calls are the process's
 * ---- */
LATH_API lath_status lath_worker_counter(lath_worker worker, const char* name, uint64_t* value);
/* The scheme by which this side of a request's message was moved: "contiguous", "gather", "device_pack",
 * "host_pack", "staged";
 * "" before it is decided. Valid until the request ends, for a persistent one until it is freed. */
LATH_API const char* lath_request_scheme(lath_request request);

#ifdef __cplusplus
}
#endif
#endif
