/* stall MIB MS: holds MIB of small pages in one mapping and prints "ready". For
 * each line it reads it maps and unmaps for MS and prints how long the 99th of
 * a hundred such pairs took, and the longest, in ns. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { kPage = 4096, kBytes = 1 << 16, kMost = 1 << 20 };

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int by_size(const void* a, const void* b) {
  const long long x = *(const long long*)a, y = *(const long long*)b;
  return (x > y) - (x < y);
}

static char* map(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(1);
  return memory;
}

int main(int argc, char** argv) {
  static long long times[kMost];
  if (argc != 3) return 2;
  const size_t all = (size_t)atol(argv[1]) << 20;
  char* memory = map(all);
  madvise(memory, all, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < all; at += kPage)
    memory[at] = 1;
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF) {
    const long long end = now_ns() + atol(argv[2]) * 1000000LL;
    const struct timespec pause = {0, 200000};
    int count = 0;
    while (now_ns() < end && count < kMost) {
      const long long start = now_ns();
      munmap(map(kBytes), kBytes);
      times[count++] = now_ns() - start;
      nanosleep(&pause, NULL);
    }
    qsort(times, count, sizeof *times, by_size);
    printf("%lld %lld\n", times[count - 1 - count / 100], times[count - 1]);
    fflush(stdout);
  }
  return 0;
}
