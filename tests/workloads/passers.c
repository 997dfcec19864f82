// passers COUNT PER_MINUTE: starts so many processes at that rate, each with a
// name of its own (job1, job2, …) that lives for 10 ms. Prints what that took
// in milliseconds. Cheap, so that a busy machine keeps up: a static program
// that executes itself, started without copying anything.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char** words) {
  char name[32];
  char* arguments[] = {name, NULL};
  const struct timespec life = {0, 10000000};
  long long begun;
  long long pause;
  if (count == 1) {  // one of them
    nanosleep(&life, NULL);
    _exit(0);
  }
  if (count != 3 || atol(words[2]) <= 0) return 2;
  signal(SIGCHLD, SIG_IGN);  // nobody waits for them
  pause = 60000000000LL / atol(words[2]);
  begun = now_ns();
  for (long i = 1; i <= atol(words[1]); ++i) {
    long long wait = begun + i * pause - now_ns();
    struct timespec left = {wait / 1000000000, wait % 1000000000};
    if (wait > 0) nanosleep(&left, NULL);
    snprintf(name, sizeof name, "job%ld", i);
    if (vfork() == 0) {
      execv("/proc/self/exe", arguments);
      _exit(127);
    }
  }
  printf("%lld\n", (now_ns() - begun) / 1000000);
  return 0;
}
