/* The C API, compiled as C, used as a program would: one process, a worker that talks to itself and to a
 * second one. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <lath/lath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int failures = 0;

#define CHECK(condition)                                                                      \
  do {                                                                                        \
    if (!(condition)) {                                                                       \
      printf("%s:%d: %s is false (%s)\n", __FILE__, __LINE__, #condition, lath_last_error()); \
      ++failures;                                                                             \
    }                                                                                         \
  } while (0)

static lath_worker workers[2];
static lath_peer peers[2]; /* peers[i]: the other worker, as workers[i] names it */

static void finish(lath_request* first, lath_request* second, lath_message_status* status) {
  int flag[2] = {0, 0};
  while ((!flag[0] || !flag[1]) && failures < 20) {
    if (!flag[0]) CHECK(lath_test(first, &flag[0], NULL) == LATH_OK);
    if (!flag[1]) CHECK(lath_test(second, &flag[1], status) == LATH_OK);
  }
}

static void connect_workers(const char* provider) {
  for (int i = 0; i < 2; ++i) CHECK(lath_worker_create(provider, LATH_THREAD_SINGLE, &workers[i]) == LATH_OK);
  for (int i = 0; i < 2 && failures == 0; ++i) {
    char address[1024];
    size_t length = sizeof address;
    CHECK(lath_worker_address(workers[1 - i], address, &length) == LATH_OK);
    CHECK(lath_connect(workers[i], address, length, 1 - i, &peers[i]) == LATH_OK);
    length = 3;
    CHECK(lath_worker_address(workers[i], address, &length) == LATH_ERR_ARGUMENT);
    CHECK(strstr(lath_last_error(), "*length") != NULL);
  }
}

static void types(void) {
  lath_type integer, vector, parsed;
  lath_segment segments[8];
  size_t filled = 0;
  int64_t size, extent, total;
  char text[64];
  size_t needed;
  CHECK(lath_type_parse("int", &integer) == LATH_OK);
  CHECK(lath_type_vector(3, 2, 4, integer, &vector) == LATH_OK);
  CHECK(lath_type_bounds(vector, &size, NULL, &extent, NULL, NULL) == LATH_OK && size == 24 && extent == 40);
  CHECK(lath_type_text(vector, text, sizeof text, &needed) == LATH_OK &&
        strcmp(text, "vector(3,2,4,int)") == 0);
  CHECK(needed == strlen(text));
  CHECK(lath_type_segments(vector, 2, 0, segments, 8, &filled, &total) == LATH_OK && filled == 5 &&
        total == 5);
  CHECK(segments[2].offset == 32 && segments[2].length == 16);
  for (int64_t first = 0; first < 5; ++first) {
    lath_segment one;
    CHECK(lath_type_segments(vector, 2, first, &one, 1, &filled, NULL) == LATH_OK && filled == 1);
    CHECK(one.offset == segments[first].offset && one.length == segments[first].length);
  }
  CHECK(lath_type_segments(vector, 2, 5, segments, 8, &filled, NULL) == LATH_OK && filled == 0);
  CHECK(lath_type_parse("vector(3,2", &parsed) == LATH_ERR_PARSE && parsed == NULL);
  CHECK(strstr(lath_last_error(), "column") != NULL);
  CHECK(lath_type_vector(-1, 2, 4, integer, &parsed) == LATH_ERR_ARGUMENT);
  CHECK(lath_type_vector(1, 2, 4, NULL, &parsed) == LATH_ERR_ARGUMENT);
  CHECK(strstr(lath_last_error(), "inner") != NULL);
  CHECK(lath_type_parse(NULL, &parsed) == LATH_ERR_ARGUMENT);
  CHECK(lath_type_parse("int", NULL) == LATH_ERR_ARGUMENT);
  const int64_t one = 1, zero = 0;
  CHECK(lath_type_struct(1, &one, &zero, &integer, &parsed) == LATH_OK);
  lath_type_free(parsed);
  const int64_t four = 4, two = 2;
  CHECK(lath_type_subarray(1, &four, &two, &one, LATH_ORDER_C, integer, &parsed) == LATH_OK);
  lath_type_free(parsed);

  int memory[20], packed[12] = {0};
  for (int i = 0; i < 20; ++i) memory[i] = i;
  CHECK(lath_pack(memory, 2, vector, 0, 48, packed) == LATH_OK);
  CHECK(packed[0] == 0 && packed[2] == 4 && packed[11] == 19);
  memset(memory, 0, sizeof memory);
  CHECK(lath_unpack(memory, 2, vector, 4, 8, &packed[1]) == LATH_OK && memory[1] == 1 && memory[4] == 4);
  CHECK(lath_pack(memory, 2, vector, 40, 9, packed) == LATH_ERR_ARGUMENT);
  CHECK(lath_pack(NULL, 1, vector, 0, 24, packed) == LATH_ERR_BAD_ADDRESS);
  static const int constant[20] = {0};
  CHECK(lath_pack(constant, 1, vector, 0, 24, packed) == LATH_OK);
  CHECK(lath_unpack((void*)(uintptr_t)constant, 1, vector, 0, 24, packed) == LATH_ERR_BAD_ADDRESS);
  CHECK(lath_pack(memory, 1, vector, 0, 24, (void*)(uintptr_t)constant) == LATH_ERR_BAD_ADDRESS);
  lath_type_free(vector);
  lath_type_free(integer);
  lath_type_free(NULL);
}

static void messages(void) {
  lath_type integer, vector;
  lath_request send, receive;
  lath_message_status status;
  CHECK(lath_type_parse("int", &integer) == LATH_OK);
  for (int count = 1; count <= 200000; count *= 20) {
    int *out = malloc(2 * sizeof(int) * (size_t)count), *in = calloc((size_t)count, sizeof(int));
    for (int i = 0; i < 2 * count; ++i) out[i] = i;
    CHECK(lath_type_vector(count, 1, 2, integer, &vector) == LATH_OK);
    CHECK(lath_receive(workers[1], in, count, integer, LATH_ANY_SOURCE, 3, LATH_ANY_TAG, &receive) ==
          LATH_OK);
    CHECK(lath_send(peers[0], out, 1, vector, 3, 44, &send) == LATH_OK);
    lath_type_free(vector); /* BL-29 */
    finish(&send, &receive, &status);
    CHECK(send == NULL && receive == NULL);
    CHECK(status.source == 0 && status.tag == 44 && status.bytes == 4 * count && status.error == LATH_OK);
    for (int i = 0; i < count; ++i)
      if (in[i] != 2 * i) {
        CHECK(in[i] == 2 * i);
        break;
      }
    free(out);
    free(in);
  }
  CHECK(lath_send(peers[0], NULL, 1, integer, 0, 0, &send) == LATH_ERR_BAD_ADDRESS && send == NULL);
  CHECK(lath_send(peers[0], &send, -1, integer, 0, 0, &send) == LATH_ERR_ARGUMENT);
  CHECK(strstr(lath_last_error(), "count") != NULL);
  CHECK(lath_send(peers[0], &send, 1, integer, 0, -2, &send) == LATH_ERR_ARGUMENT);
  CHECK(lath_send(NULL, &send, 1, integer, 0, 0, &send) == LATH_ERR_ARGUMENT);
  CHECK(lath_receive(workers[0], &send, 1, integer, -2, 0, 0, &receive) == LATH_ERR_ARGUMENT);

  CHECK(lath_receive(workers[0], &status, 1, integer, 1, 0, 0, &receive) == LATH_OK);
  CHECK(lath_cancel(receive) == LATH_OK);
  CHECK(lath_wait(&receive, &status) == LATH_ERR_CANCELLED && status.error == LATH_ERR_CANCELLED);
  lath_type_free(integer);
}

static void persistent(void) {
  lath_type integer;
  lath_request send, receive;
  int out = 0, in = -1, flag;
  lath_message_status status;
  lath_message message;
  CHECK(lath_type_parse("int", &integer) == LATH_OK);
  CHECK(lath_send_init(peers[0], &out, 1, integer, 0, 5, &send) == LATH_OK);
  CHECK(lath_receive_init(workers[1], &in, 1, integer, 0, 0, 5, &receive) == LATH_OK);
  for (out = 1; out < 4; ++out) {
    CHECK(lath_start(receive) == LATH_OK && lath_start(send) == LATH_OK);
    finish(&send, &receive, NULL);
    CHECK(in == out && send != NULL && receive != NULL);
    CHECK(lath_request_scheme(send)[0] != 0);
  }
  CHECK(lath_start(send) == LATH_OK);
  do CHECK(lath_probe(workers[1], 0, 0, 5, &flag, &status) == LATH_OK);
  while (!flag && failures < 20);
  CHECK(status.bytes == 4);
  CHECK(lath_probe_matched(workers[1], LATH_ANY_SOURCE, 0, LATH_ANY_TAG, &flag, &message, &status) ==
            LATH_OK &&
        flag);
  lath_request matched;
  CHECK(lath_receive_matched(message, &in, 1, integer, &matched) == LATH_OK);
  finish(&send, &matched, &status);
  CHECK(in == out);
  CHECK(lath_request_free(send) == LATH_OK && lath_request_free(receive) == LATH_OK);
  lath_type_free(integer);
}

/* One thread may wait for requests of several workers that wait for each other. */
static void wait_for_all(void) {
  enum { COUNT = 20000 };
  lath_type integer = NULL, vector = NULL;
  lath_request requests[5] = {NULL};
  lath_message_status statuses[5];
  int *out = malloc(2 * COUNT * sizeof *out), *in = malloc(2 * COUNT * sizeof *in), small = 7, got = 0;
  for (int i = 0; i < 2 * COUNT; ++i) out[i] = i, in[i] = -1;
  CHECK(lath_type_parse("int", &integer) == LATH_OK);
  CHECK(lath_type_vector(COUNT, 1, 2, integer, &vector) == LATH_OK);
  CHECK(lath_send(peers[0], out, 1, vector, 3, 1, &requests[0]) == LATH_OK);
  CHECK(lath_send(peers[1], &small, 1, integer, 3, 2, &requests[1]) == LATH_OK);
  CHECK(lath_receive(workers[0], &got, 1, integer, 1, 3, 2, &requests[3]) == LATH_OK);
  CHECK(lath_receive(workers[1], in, 1, vector, 0, 3, 1, &requests[4]) == LATH_OK);
  CHECK(lath_wait_all(5, requests, statuses) == LATH_OK);
  for (int i = 0; i < 5; ++i) CHECK(requests[i] == NULL);
  CHECK(got == 7 && in[0] == 0 && in[1] == -1 && in[2 * COUNT - 2] == 2 * COUNT - 2);
  CHECK(statuses[4].bytes == 4 * COUNT && statuses[3].source == 1 && statuses[2].error == LATH_OK);
  free(out);
  free(in);
  lath_type_free(vector);
  lath_type_free(integer);
}

static void finish_at_target(lath_request* request) {
  for (int flag = 0; !flag && failures < 20;) {
    CHECK(lath_test(request, &flag, NULL) == LATH_OK);
    CHECK(lath_progress(workers[1]) == LATH_OK);
  }
}

static void one_sided(void) {
  lath_type integer = NULL, vector = NULL, region_type = NULL;
  lath_region region;
  char key[256];
  size_t length = sizeof key;
  int window[10], out[5] = {1, 2, 3, 4, 5}, in[5] = {0};
  lath_request request;
  memset(window, 0, sizeof window);
  CHECK(lath_type_parse("int", &integer) == LATH_OK &&
        lath_type_vector(5, 1, 2, integer, &vector) == LATH_OK);
  CHECK(lath_region_create(workers[1], window, SIZE_MAX, &region) == LATH_ERR_ARGUMENT);
  void* closed = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(lath_region_create(workers[1], closed, 65536, &region) == LATH_ERR_BAD_ADDRESS);
  munmap(closed, 65536);
  CHECK(lath_type_indexed(INT64_MAX, &(int64_t){1}, &(int64_t){0}, integer, &region_type) ==
        LATH_ERR_ARGUMENT);
  CHECK(lath_region_create(workers[1], window, sizeof window, &region) == LATH_OK);
  CHECK(lath_region_key(region, key, &length) == LATH_OK);
  CHECK(lath_put(peers[0], out, 5, integer, key, length, 0, 1, vector, &request) == LATH_OK);
  finish_at_target(&request);
  CHECK(window[0] == 1 && window[1] == 0 && window[8] == 5);
  CHECK(lath_get(peers[0], in, 5, integer, key, length, 0, 1, vector, &request) == LATH_OK);
  finish_at_target(&request);
  CHECK(memcmp(in, out, sizeof in) == 0);
  CHECK(lath_put(peers[0], out, 5, integer, key, length, 8, 1, vector, &request) == LATH_ERR_ARGUMENT);
  CHECK(lath_put(peers[0], out, 5, integer, "nonsense", 8, 0, 1, vector, &request) == LATH_ERR_ARGUMENT);
  lath_region_destroy(region);
  lath_type_free(vector);
  lath_type_free(integer);
}

static void gpu(void) {
  void* memory = NULL;
  int out[4] = {1, 2, 3, 4}, in[4] = {0};
  if (!lath_gpu_available()) {
    CHECK(lath_gpu_alloc(16, &memory) == LATH_ERR_NOT_SUPPORTED);
    printf("no GPU: lath_gpu_* only checked to say so\n");
    return;
  }
  CHECK(lath_gpu_alloc(16, &memory) == LATH_OK);
  CHECK(lath_gpu_copy(memory, out, 16) == LATH_OK && lath_gpu_copy(in, memory, 16) == LATH_OK);
  CHECK(memcmp(in, out, 16) == 0);
  lath_type type;
  int packed[2] = {0};
  CHECK(lath_type_parse("vector(2,1,2,int)", &type) == LATH_OK);
  CHECK(lath_pack(memory, 1, type, 0, 8, packed) == LATH_OK && packed[0] == 1 && packed[1] == 3);
  packed[0] = 10;
  CHECK(lath_unpack(memory, 1, type, 0, 8, packed) == LATH_OK && lath_gpu_copy(in, memory, 16) == LATH_OK);
  CHECK(in[0] == 10 && in[1] == 2 && in[2] == 3);
  CHECK(lath_gpu_free((char*)memory + 4) == LATH_ERR_ARGUMENT);
  CHECK(lath_gpu_free(memory) == LATH_OK && lath_gpu_free(NULL) == LATH_OK);
  lath_type_free(type);
}

int main(int argc, char** argv) {
  uint64_t value;
  CHECK(strcmp(lath_version(), "0.1.0") == 0);
  CHECK(lath_status_string(LATH_ERR_PARSE)[0] != 0 && lath_status_string((lath_status)-99)[0] != 0);
  CHECK(lath_worker_create("no-such-provider", LATH_THREAD_SINGLE, &workers[0]) != LATH_OK);
  types();
  gpu();
  connect_workers(argc > 1 ? argv[1] : NULL);
  if (failures == 0) {
    printf("provider %s\n", lath_worker_provider(workers[0]));
    messages();
    persistent();
    wait_for_all();
    one_sided();
    CHECK(lath_worker_counter(workers[0], "messages", &value) == LATH_OK && value > 0);
    CHECK(lath_worker_counter(workers[0], "nonsense", &value) == LATH_ERR_ARGUMENT);
  }
  lath_worker_destroy(workers[0]);
  lath_worker_destroy(workers[1]);
  printf(failures == 0 ? "c_api: passed\n" : "c_api: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
