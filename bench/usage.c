// usage FILE COMMAND…
//
// Runs COMMAND and writes to FILE what it cost: lines "wall_ns N", "cpu_ns N"
// (user and system, with all its children that were waited for) and
// "max_rss_kib N" (of the largest process among them). In C, because the
// kernel counts into max_rss what a process was before exec, and started by a
// python everything is at least as large as that.
//
// COMMAND gets our streams, and SIGTERM when we die; we end with its exit code.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long cpu_ns(const struct rusage* usage) {
  return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000LL +
         (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000LL;
}

static int fail(const char* what) {
  fprintf(stderr, "usage: %s: %s\n", what, strerror(errno));
  return 125;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: usage FILE COMMAND...\n");
    return 2;
  }
  const pid_t self = getpid();
  const long long start = now_ns();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != self) _exit(125);  // it had ended before that
    execvp(argv[2], argv + 2);
    _exit(fail(argv[2]));
  }
  int status = 0;
  struct rusage usage;
  if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) return fail(argv[2]);
  const long long wall = now_ns() - start;
  FILE* file = fopen(argv[1], "w");
  if (!file) return fail(argv[1]);
  fprintf(file, "wall_ns %lld\ncpu_ns %lld\nmax_rss_kib %ld\n", wall,
          cpu_ns(&usage), usage.ru_maxrss);
  if (fclose(file) != 0) return fail(argv[1]);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
