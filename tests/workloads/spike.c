/* spike BASE_MIB SPIKE_MIB HOLD_MS [thp|shared|child|grandchild]: holds BASE,
 * rises by SPIKE for HOLD milliseconds, falls back, and ends 30 ms later. With
 * (grand)child the spike is in a forked process. Prints what it touched at
 * most, in pages, so that a test can compare to the page. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  if (ms > 0) nanosleep(&pause, NULL);
}

static char* touch(size_t bytes, int flags, int advice) {
  char* memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  madvise(memory, bytes, advice);
  for (size_t i = 0; i < bytes; i += 4096)
    memory[i] = 1;
  return memory;
}

static long seen_pages;

/* Read twice: the first time faults in the code that reads. */
static void look_at_self(void) {
  static char text[4096];
  for (int i = 0; i < 2; ++i) {
    const int fd = open("/proc/self/smaps_rollup", O_RDONLY);
    const ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[got > 0 ? got : 0] = 0;
    const char* line = strstr(text, "Rss:");
    seen_pages = line ? atol(line + 4) / 4 : 0;
  }
}

static void spike(size_t bytes, long hold_ms, const char* kind) {
  const int shared = strcmp(kind, "shared") == 0;
  const int advice = strcmp(kind, "thp") == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
  char* memory = touch(bytes, shared ? MAP_SHARED : MAP_PRIVATE, advice);
  look_at_self();
  sleep_ms(hold_ms);
  munmap(memory, bytes);
}

static void in_child(int depth, size_t bytes, long hold_ms) {
  const pid_t child = fork();
  if (child == 0) {
    if (depth > 1) {
      in_child(depth - 1, bytes, hold_ms);
    } else {
      spike(bytes, hold_ms, "");
    }
    _exit(0);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  const size_t base = (size_t)(argc > 1 ? atol(argv[1]) : 20) << 20;
  const size_t high = (size_t)(argc > 2 ? atol(argv[2]) : 64) << 20;
  const long hold_ms = argc > 3 ? atol(argv[3]) : 15;
  const char* kind = argc > 4 ? argv[4] : "";
  touch(base, MAP_PRIVATE, MADV_NOHUGEPAGE);
  sleep_ms(20);
  if (strcmp(kind, "child") == 0) {
    in_child(1, high, hold_ms);
  } else if (strcmp(kind, "grandchild") == 0) {
    in_child(2, high, hold_ms);
  } else {
    spike(high, hold_ms, kind);
  }
  sleep_ms(30);
  printf("%zu %ld\n", (base + high) / 4096, seen_pages);
  return 0;
}
