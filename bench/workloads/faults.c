// faults: for each line it reads it takes and gives back pages for a second and
// prints what one took, in nanoseconds: the median of pieces of 16 MiB. One
// process for all that is compared: two of them differ by where their memory
// lies, and a median leaves out what the machine did beside it.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum {
  kPage = 4096,
  kPages = 4096,
  kMostPieces = 4096,
};
static const uint64_t kWarmNs = 300000000;
static const uint64_t kMeasuredNs = 1000000000;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t piece_ns(void) {
  const uint64_t start = now_ns();
  char* area = mmap(NULL, (size_t)kPages * kPage, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) exit(1);
  madvise(area, (size_t)kPages * kPage, MADV_NOHUGEPAGE);
  for (long i = 0; i < kPages; ++i)
    area[i * kPage] = 1;
  munmap(area, (size_t)kPages * kPage);
  return now_ns() - start;
}

static int order(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a, right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

int main(void) {
  static uint64_t pieces[kMostPieces];
  char line[16];
  while (fgets(line, sizeof line, stdin)) {
    const uint64_t start = now_ns();
    size_t count = 0;
    while (now_ns() - start < kWarmNs)
      piece_ns();
    while (now_ns() - start < kWarmNs + kMeasuredNs && count < kMostPieces)
      pieces[count++] = piece_ns();
    qsort(pieces, count, sizeof pieces[0], order);
    printf("%.1f\n", (double)pieces[count / 2] / kPages);
    fflush(stdout);
  }
  return 0;
}
