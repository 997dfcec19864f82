// paced_reads COUNT PERIOD_MS FILES PID...
//
// Opens, reads and closes files of the processes every PERIOD_MS, COUNT times,
// and drops what it reads: what a recorder cannot do without. FILES are names
// parted by commas. Prints "cpu_ns N" for all of it. It sleeps between the
// rounds as a recorder does, because caches cool meanwhile.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static long long cpu_ns(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL;
}

static void read_file(const char* pid, const char* name) {
  static char buffer[16384];
  char path[256];
  snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
  const int file = open(path, O_RDONLY);
  if (file < 0) return;
  while (read(file, buffer, sizeof buffer) > 0) {
  }
  close(file);
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: paced_reads COUNT PERIOD_MS FILES PID...\n");
    return 2;
  }
  const int count = atoi(argv[1]);
  const long period_ns = atol(argv[2]) * 1000000L;
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  const long long before = cpu_ns();
  for (int i = 0; i < count; ++i) {
    for (int p = 4; p < argc; ++p) {
      char names[256];
      snprintf(names, sizeof names, "%s", argv[3]);
      for (char* name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        read_file(argv[p], name);
      }
    }
    due.tv_nsec += period_ns;
    while (due.tv_nsec >= 1000000000L) {
      due.tv_nsec -= 1000000000L;
      ++due.tv_sec;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
  }
  printf("cpu_ns %lld\n", cpu_ns() - before);
  return 0;
}
