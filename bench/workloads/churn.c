// churn N: touches and gives back 64 MiB, N times, page by page: nothing but
// page faults. Prints its system time in nanoseconds.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { kPage = 4096, kBytes = 64 << 20 };

int main(int count, char** words) {
  struct rusage used;
  for (long i = count > 1 ? atol(words[1]) : 10; i > 0; --i) {
    char* area = mmap(NULL, kBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) return 1;
    madvise(area, kBytes, MADV_NOHUGEPAGE);
    for (long at = 0; at < kBytes; at += kPage)
      area[at] = 1;
    munmap(area, kBytes);
  }
  getrusage(RUSAGE_SELF, &used);
  printf("%ld\n",
         used.ru_stime.tv_sec * 1000000000L + used.ru_stime.tv_usec * 1000L);
  return 0;
}
