// mmap_latency SECONDS
//
// A process with 2,000 mappings and 256 MiB that measures its own mmap, touch
// and munmap of a page, once a millisecond. Prints "ready PID", then, for each
// line it reads, the latencies of the next SECONDS: "p50 NS", "p99 NS", "max
// NS", "count N".
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MAPPINGS = 2000, MOST = 1000000 };

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int by_size(const void* a, const void* b) {
  const long long x = *(const long long*)a, y = *(const long long*)b;
  return x < y ? -1 : x > y;
}

static void settle(void) {
  for (int i = 0; i < MAPPINGS; ++i) {
    // Neighbours of other rights are not merged.
    char* page = mmap(NULL, 8192, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) exit(1);
    if (i % 2 == 0) *page = 1;
  }
  const size_t large = (size_t)256 << 20;
  char* memory = mmap(NULL, large, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(1);
  madvise(memory, large, MADV_NOHUGEPAGE);
  memset(memory, 1, large);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const long long span = atoll(argv[1]) * 1000000000LL;
  static long long times[MOST];
  settle();
  printf("ready %d\n", getpid());
  fflush(stdout);
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    int count = 0;
    const long long end = now_ns() + span;
    while (now_ns() < end && count < MOST) {
      const long long start = now_ns();
      char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      *page = 1;
      munmap(page, 4096);
      times[count++] = now_ns() - start;
      const struct timespec rest = {0, 1000000};
      nanosleep(&rest, NULL);
    }
    qsort(times, count, sizeof *times, by_size);
    printf("p50 %lld\np99 %lld\nmax %lld\ncount %d\n", times[count / 2],
           times[count - count / 100 - 1], times[count - 1], count);
    fflush(stdout);
  }
  return 0;
}
