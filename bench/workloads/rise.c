// rise BASE_MIB RISE_MIB HOLD_MS
//
// Holds BASE, rises by RISE in small pages, and gives that back HOLD
// milliseconds after the last page, with nothing but the sleep in between: the
// spike of the live tests looks at itself at the top, which takes tens of
// milliseconds when it is high. Prints what it touched, in pages.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { kPageBytes = 4096 };

static void sleep_ms(long ms) {
  const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  if (ms > 0) nanosleep(&pause, NULL);
}

static char* touch(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("rise: mmap");
    exit(1);
  }
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < bytes; i += kPageBytes)
    memory[i] = 1;
  return memory;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: rise BASE_MIB RISE_MIB HOLD_MS\n");
    return 2;
  }
  const size_t base = (size_t)atol(argv[1]) << 20;
  const size_t rise = (size_t)atol(argv[2]) << 20;
  touch(base);
  sleep_ms(20);
  char* memory = touch(rise);
  sleep_ms(atol(argv[3]));
  munmap(memory, rise);
  sleep_ms(30);
  printf("%zu\n", (base + rise) / kPageBytes);
  return 0;
}
