// spawn ROUNDS COMMAND… [:: COMMAND…]…
//
// Runs the commands in turn, ROUNDS times, and prints a line
// "INDEX WALL_NS CPU_NS" for each run. CPU is user and system time as wait4
// reports it. In C, because what starts the child is part of the wall time:
// from Python the start alone costs as much as `cat`, and would flatter every
// ratio.
//
// Each round begins one command later than the one before, so that none always
// runs in the wake of the same neighbour. One round in advance warms the caches
// and is not printed. The children have no input and their output is dropped; a
// child that fails ends the run with exit code 1.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

enum { kMaxCommands = 16 };

static long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long cpu_ns(const struct rusage* usage) {
  return (usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1000000000LL +
         (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1000LL;
}

static void run(int index, char** command, int is_counted) {
  static posix_spawn_file_actions_t files;
  static int is_ready;
  if (!is_ready) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    is_ready = 1;
  }
  const long long start = now_ns();
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, command[0], &files, NULL, command, environ);
  int status = 0;
  struct rusage usage;
  if (error != 0 || wait4(pid, &status, 0, &usage) != pid) {
    fprintf(stderr, "spawn: %s: %s\n", command[0], strerror(error));
    exit(1);
  }
  const long long wall = now_ns() - start;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fprintf(stderr, "spawn: %s failed, status 0x%x\n", command[0], status);
    exit(1);
  }
  if (is_counted) printf("%d %lld %lld\n", index, wall, cpu_ns(&usage));
}

int main(int argc, char** argv) {
  char** commands[kMaxCommands];
  int count = 0;
  for (int i = 2; i < argc; ++i) {
    const int is_separator = strcmp(argv[i], "::") == 0;
    if (is_separator) argv[i] = NULL;
    if ((i == 2 || is_separator) && count < kMaxCommands) {
      commands[count++] = argv + i + is_separator;
    }
  }
  const long rounds = argc > 2 ? atol(argv[1]) : 0;
  if (rounds < 1) {
    fprintf(stderr, "usage: spawn ROUNDS COMMAND... [:: COMMAND...]...\n");
    return 2;
  }
  for (long round = -1; round < rounds; ++round) {
    for (int i = 0; i < count; ++i) {
      const int index = (int)((i + round + 1) % count);
      run(index, commands[index], round >= 0);
    }
  }
  return 0;
}
