// Touches 2 MiB and ends at once: gone before anybody has looked at it.
#define _GNU_SOURCE
#include <sys/mman.h>

enum { kPage = 4096, kBytes = 2 << 20 };

__attribute__((noinline)) static int touch_briefly(volatile char* area) {
  for (long at = 0; at < kBytes; at += kPage)
    area[at] = 1;
  return area[0];
}

int main(void) {
  char* area = mmap(0, kBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) return 1;
  madvise(area, kBytes, MADV_NOHUGEPAGE);
  return touch_briefly(area) - 1;
}
