// Holds pages of known kinds until its standard input closes, or churns.
//
//   pages hold PRIVATE_MIB FORKED_MIB MEMFD_MIB
//
// The parent touches PRIVATE_MIB of its own after the fork and FORKED_MIB
// before it, which the child maps too and never writes; the memfd is written
// and not mapped. Prints "ready PARENT CHILD".
//
//   pages churn SECONDS
//
// Allocates, frees, forks and ends children until then: at most 64 MiB and
// eight processes at a time. Prints "ready".
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kMiB = 1 << 20, kChildren = 8 };

// Small pages: a huge one would be there where nothing was touched. Each page
// differs, since same ones could be stored once.
static char* touched(size_t size) {
  char* area = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) exit(1);
  madvise(area, size, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < size; at += kPage)
    memcpy(area + at, &at, sizeof at), area[at + 9] = 1;
  return area;
}

static int hold(char** mib) {
  char page[kPage];
  char end = 0;
  touched(strtoul(mib[1], NULL, 10) * kMiB);
  int memfd = memfd_create("ledger-known", 0);
  memset(page, 1, sizeof page);
  for (size_t i = strtoul(mib[2], NULL, 10) * kMiB / kPage; i > 0; --i) {
    if (write(memfd, page, kPage) != kPage) return 1;
  }
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;)
      pause();
  }
  touched(strtoul(mib[0], NULL, 10) * kMiB);
  printf("ready %d %d\n", getpid(), child);
  fflush(stdout);
  while (read(0, &end, 1) > 0) {
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  return 0;
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static int churn(double seconds) {
  const double end = now() + seconds;
  unsigned long round = 0;
  int living = 0;
  printf("ready\n");
  fflush(stdout);
  while (now() < end) {
    const size_t size = (1 + ++round % 7) * kMiB;
    if (living < kChildren && fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      munmap(touched(size), size);
      touched(kMiB);
      usleep(1000 * (round % 20));
      _exit(0);
    }
    ++living;
    munmap(touched(size), size);
    while (waitpid(-1, NULL, living < kChildren ? WNOHANG : 0) > 0)
      --living;
  }
  return 0;
}

int main(int count, char** words) {
  if (count == 5 && strcmp(words[1], "hold") == 0) return hold(words + 2);
  if (count == 3 && strcmp(words[1], "churn") == 0) {
    return churn(strtod(words[2], NULL));
  }
  return 2;
}
