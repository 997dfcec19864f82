// Does one thing to memory or to processes whose outcome is known, for the
// guest tests of `run`.
//
//   deed touch PAGES         writes to so many pages, gives them back, ends
//   deed many COUNT          so many of those in turn, of 100, 101… pages
//   deed relay COUNT         forks while a sibling is in exec, so many times
//   deed write FILE MIB MS   a file of so many MiB; ends after MS
//   deed memfd MIB MS        the same in a memory file that nobody maps
//   deed stray READY PAGES   leaves a daemon behind that holds PAGES
//   deed hold READY PAGES    holds PAGES until it is killed
//   deed grow READY DONE     64 MiB in small steps, then waits to be killed
//   deed into GROUP PROGRAM… a child that is born in that group becomes PROGRAM
//
// READY and DONE are files: the pid is written to the one before, nothing to
// the other after.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kMiB = 1 << 20 };

static void die(const char* what) {
  perror(what);
  exit(1);
}

static void sleep_us(long us) {
  struct timespec pause = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&pause, NULL);
}

static char* touch(size_t pages) {
  char* area = mmap(NULL, pages * kPage, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) die("mmap");
  madvise(area, pages * kPage, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < pages; ++i)
    area[i * kPage] = 1;
  return area;
}

// In one step, so that who waits for the file reads the whole of it.
static void announce(const char* path) {
  char name[256];
  snprintf(name, sizeof name, "%s.new", path);
  FILE* file = fopen(name, "w");
  if (!file) die(name);
  fprintf(file, "%d\n", getpid());
  fclose(file);
  if (rename(name, path) != 0) die(path);
}

static void wait_to_be_killed(void) {
  for (;;)
    pause();
}

static void many(const char* self, int count) {
  for (int i = 0; i < count; ++i) {
    char pages[16];
    snprintf(pages, sizeof pages, "%d", 100 + i);
    if (fork() == 0) {
      execl(self, "deed", "touch", pages, (char*)NULL);
      _exit(9);
    }
    wait(NULL);
  }
}

// Exec frees the old address space before it is done. We have priority and wake
// up in between at many different moments; the process forked then may get
// memory that described the old space.
static void relay(const char* self, int count) {
  const struct sched_param first = {.sched_priority = 1};
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
  for (int i = 0; i < count; ++i) {
    int line[2];
    char word;
    if (pipe(line) != 0) die("pipe");
    if (fork() == 0) {
      touch(300);
      if (write(line[1], "x", 1) != 1) _exit(9);
      execl(self, "deed", "touch", "1", (char*)NULL);
      _exit(9);
    }
    if (read(line[0], &word, 1) != 1) die("read");
    close(line[0]);
    close(line[1]);
    sleep_us(i % 50 * 40);
    if (fork() == 0) {
      prctl(PR_SET_NAME, "second");
      touch(10);
      _exit(0);
    }
    while (wait(NULL) > 0) {
    }
  }
}

static void fill(int fd, size_t size) {
  static char block[64 << 10];
  if (fd < 0) die("open");
  memset(block, 1, sizeof block);
  for (size_t at = 0; at < size; at += sizeof block) {
    if (write(fd, block, sizeof block) != sizeof block) die("write");
  }
}

static void stray(const char* ready, size_t pages) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      for (int fd = 0; fd < 3; ++fd)
        close(fd);
      touch(pages);
      announce(ready);
      wait_to_be_killed();
    }
    _exit(0);
  }
  wait(NULL);
  while (access(ready, F_OK) != 0)
    sleep_us(5000);
}

static void grow(const char* ready, const char* done) {
  announce(ready);
  for (int i = 0; i < 64; ++i) {
    touch(kMiB / kPage);
    sleep_us(5000);
  }
  announce(done);
  wait_to_be_killed();
}

// Without a move from one group to the other (clone3, since 5.7).
static void born_in(const char* group, char** program) {
  const unsigned long long kIntoCgroup = 0x200000000;
  struct {
    unsigned long long flags, pidfd, child_tid, parent_tid, exit_signal, stack,
        stack_bytes, tls, set_tid, set_tid_count, cgroup;
  } how = {.flags = kIntoCgroup, .exit_signal = SIGCHLD};
  const int folder = open(group, O_RDONLY | O_DIRECTORY);
  if (folder < 0) die(group);
  how.cgroup = (unsigned long long)folder;
  const long child = syscall(SYS_clone3, &how, sizeof how);
  if (child < 0) die("clone3");
  if (child == 0) {
    execv(program[0], program);
    die(program[0]);
  }
  waitpid((pid_t)child, NULL, 0);
}

int main(int count, char** words) {
  const char* verb = count > 2 ? words[1] : "";
  const char* last = words[count - 1];
  const long number = strtol(last, NULL, 10);
  if (strcmp(verb, "touch") == 0) {
    munmap(touch(number), number * kPage);
  } else if (strcmp(verb, "many") == 0) {
    many(words[0], number);
  } else if (strcmp(verb, "relay") == 0) {
    relay(words[0], number);
  } else if (strcmp(verb, "write") == 0 && count == 5) {
    fill(open(words[2], O_CREAT | O_WRONLY | O_TRUNC, 0644),
         strtoul(words[3], NULL, 10) * kMiB);
    sleep_us(number * 1000);
  } else if (strcmp(verb, "memfd") == 0 && count == 4) {
    fill(memfd_create("not mapped", 0), strtoul(words[2], NULL, 10) * kMiB);
    sleep_us(number * 1000);
  } else if (strcmp(verb, "stray") == 0 && count == 4) {
    stray(words[2], number);
  } else if (strcmp(verb, "hold") == 0 && count == 4) {
    touch(number);
    announce(words[2]);
    wait_to_be_killed();
  } else if (strcmp(verb, "grow") == 0 && count == 4) {
    grow(words[2], words[3]);
  } else if (strcmp(verb, "into") == 0 && count > 3) {
    born_in(words[2], words + 3);
  } else {
    return 2;
  }
  return 0;
}
