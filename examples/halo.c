/* Two processes exchange the edge columns of their grids, straight out of and into the grid's memory.
 *
 *   cc halo.c $(pkg-config --cflags --libs lath) -o halo && ./halo
 *
 * A column of a row-major grid is strided: one number, then a whole row's distance to the next one. */
#include <lath/lath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROWS = 300, COLUMNS = 200 }; /* the last column of process 0 and the first of process 1 are ghosts */

static double grid[ROWS][COLUMNS];

static void check(lath_status status, const char* doing) {
  if (status == LATH_OK) return;
  fprintf(stderr, "halo: %s: %s\n", doing, lath_last_error());
  exit(1);
}

/* Any way to bring a few bytes to the other process will do. */
static void swap_addresses(int socket, const void* mine, size_t length, void* theirs) {
  memset(theirs, 0, 1024);
  if (write(socket, mine, length) != (ssize_t)length || read(socket, theirs, 1024) != (ssize_t)length)
    exit(1);
}

static double value(int rank, int row) {
  return 1000.0 * (rank + 1) + row;
}

static int run(int rank, int socket) {
  const int edge = rank == 0 ? COLUMNS - 2 : 1;
  const int ghost = rank == 0 ? COLUMNS - 1 : 0;
  for (int row = 0; row < ROWS; ++row) grid[row][edge] = value(rank, row);

  lath_worker worker;
  check(lath_worker_create(NULL, LATH_THREAD_SINGLE, &worker), "opening the network");
  char mine[1024], theirs[1024];
  size_t length = sizeof mine;
  check(lath_worker_address(worker, mine, &length), "asking for the address");
  swap_addresses(socket, mine, length, theirs);
  lath_peer peer;
  check(lath_connect(worker, theirs, length, 1 - rank, &peer), "connecting");

  char text[64];
  snprintf(text, sizeof text, "vector(%d,1,%d,double)", ROWS, COLUMNS);
  lath_type column;
  check(lath_type_parse(text, &column), "making the type");

  lath_request requests[2];
  check(lath_receive(worker, &grid[0][ghost], 1, column, 1 - rank, 0, 0, &requests[0]), "receiving");
  check(lath_send(peer, &grid[0][edge], 1, column, 0, 0, &requests[1]), "sending");
  check(lath_wait_all(2, requests, NULL), "exchanging the columns");

  int wrong = 0;
  for (int row = 0; row < ROWS; ++row) wrong += grid[row][ghost] != value(1 - rank, row);
  printf("process %d over %s: %d of %d ghost cells are right\n", rank, lath_worker_provider(worker),
         ROWS - wrong, ROWS);

  /* What was sent last may still be on its way: keep things moving until the other process is done, too. */
  char done = 1;
  if (write(socket, &done, 1) != 1) return 1;
  while (recv(socket, &done, 1, MSG_DONTWAIT) < 0) check(lath_progress(worker), "moving data along");
  lath_type_free(column);
  lath_worker_destroy(worker);
  return wrong != 0;
}

int main(void) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets) != 0) return 1;
  const pid_t child = fork(); /* before any worker exists */
  if (child < 0) return 1;
  if (child == 0) {
    close(sockets[0]);
    return run(1, sockets[1]);
  }
  close(sockets[1]);
  const int failed = run(0, sockets[0]);
  int status = 1;
  waitpid(child, &status, 0);
  return failed || status != 0;
}
