// Holds so many MiB while its first thread has ended and others go on, as after
// pthread_exit in main.
//
//   headless KIND MIB      KIND: anon, or memfd (held open and mapped)
//
// Prints "ready" once that is so, and ends when its input is closed.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static pthread_t first;
static const char* kind;
static size_t bytes;

static void* hold(void* unused) {
  (void)unused;
  pthread_join(first, NULL);
  const int is_memfd = strcmp(kind, "memfd") == 0;
  const int fd = is_memfd ? memfd_create("headless", 0) : -1;
  if (is_memfd && (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)) exit(1);
  char* held = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    is_memfd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
  if (held == MAP_FAILED) exit(1);
  memset(held, 1, bytes);
  puts("ready");
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  exit(0);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  kind = argv[1];
  bytes = strtoul(argv[2], NULL, 10) << 20;
  first = pthread_self();
  pthread_t second;
  if (pthread_create(&second, NULL, hold, NULL) != 0) return 1;
  pthread_exit(NULL);
}
