/* swarm COUNT [WIDTH]: starts COUNT processes of /bin/true, WIDTH at a time, by
 * fork, vfork and posix_spawn in turn, and waits for all. */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void start(int turn) {
  char* arguments[] = {"/bin/true", NULL};
  pid_t child;
  switch (turn % 3) {
    case 0:
      child = fork();
      break;
    case 1:
      child = vfork();
      break;
    default:
      if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ))
        exit(1);
      return;
  }
  if (child < 0) exit(1);
  if (child == 0) {
    execv(arguments[0], arguments);
    _exit(127);
  }
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 100;
  const int width = argc > 2 ? atoi(argv[2]) : 4;
  int running = 0;
  for (int i = 0; i < count; ++i) {
    if (running == width) {
      wait(NULL);
      --running;
    }
    start(i);
    ++running;
  }
  while (running-- > 0)
    wait(NULL);
  return 0;
}
