/* climb MIB STEP MS HOLD_MS: touches STEP MiB of small pages of one mapping
 * each MS up to MIB, then holds them so long. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { kPage = 4096 };

static void sleep_ms(long ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const size_t all = (size_t)atol(argv[1]) << 20;
  const size_t step = (size_t)atol(argv[2]) << 20;
  char* memory = mmap(NULL, all, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  madvise(memory, all, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < all; at += kPage) {
    if (at % step == 0) sleep_ms(atol(argv[3]));
    memory[at] = 1;
  }
  sleep_ms(atol(argv[4]));
  return 0;
}
