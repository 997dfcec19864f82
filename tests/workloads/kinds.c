/* kinds WHAT MIB: holds MIB of one kind of memory for 100 ms, then drops it and
 * ends 50 ms later. WHAT: memfd (never mapped), shared (anonymous, in two
 * processes), cache (of a file in the working directory, removed), pipe (the
 * kernel's), threads (touched by four at once), rename (calls itself "renamed"
 * and executes itself once more), daemon (double fork, own session). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static size_t size_bytes;

static void sleep_ms(long ms) {
  struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&pause, NULL);
}

static void die(const char* what) {
  perror(what);
  exit(1);
}

static char* map(int flags) {
  char* memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                      MAP_ANONYMOUS | flags, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  madvise(memory, size_bytes, MADV_NOHUGEPAGE);
  return memory;
}

static void write_all(int fd) {
  static char block[1 << 16];
  memset(block, 1, sizeof block);
  for (size_t done = 0; done < size_bytes; done += sizeof block) {
    if (write(fd, block, sizeof block) < 0) die("write");
  }
}

static void hold_memfd(void) {
  const int fd = memfd_create("held", MFD_CLOEXEC);
  write_all(fd);
  sleep_ms(100);
  close(fd);
}

static void hold_cache(void) {
  char name[] = "tidemark-cache-XXXXXX";
  const int fd = mkstemp(name);
  if (fd < 0) die(name);
  unlink(name);
  write_all(fd);
  sleep_ms(100);
  close(fd);
}

static void hold_shared(void) {
  char* memory = map(MAP_SHARED);
  memset(memory, 1, size_bytes);
  const pid_t child = fork();
  if (child == 0) {
    volatile char sum = 0;
    for (size_t i = 0; i < size_bytes; i += 4096)
      sum += memory[i];
    sleep_ms(100);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  munmap(memory, size_bytes);
}

static void hold_pipes(void) {
  const size_t each = 1 << 20;
  static char block[4096];
  for (size_t done = 0; done < size_bytes; done += each) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) die("pipe");
    fcntl(ends[1], F_SETPIPE_SZ, each);
    while (write(ends[1], block, sizeof block) > 0) {
    }
  }
  sleep_ms(100);
}

static void* touch_quarter(void* start) {
  char* memory = start;
  for (size_t i = 0; i < size_bytes / 4; i += 4096)
    memory[i] = 1;
  return NULL;
}

static void hold_by_threads(void) {
  char* memory = map(MAP_PRIVATE);
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) {
    pthread_create(&threads[i], NULL, touch_quarter,
                   memory + size_bytes / 4 * i);
  }
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  sleep_ms(100);
  munmap(memory, size_bytes);
}

static void rename_and_exec(char** argv) {
  if (getenv("KINDS_AGAIN")) {
    prctl(PR_SET_NAME, "renamed");
    char* memory = map(MAP_PRIVATE);
    memset(memory, 1, size_bytes);
    sleep_ms(100);
    return;
  }
  setenv("KINDS_AGAIN", "1", 1);
  execv("/proc/self/exe", argv);
  die("exec");
}

static void leave_daemon(void) {
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      char* memory = map(MAP_PRIVATE);
      memset(memory, 1, size_bytes);
      sleep_ms(1500);
    }
    _exit(0);
  }
  wait(NULL);
  sleep_ms(300);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const char* what = argv[1];
  size_bytes = (size_t)atol(argv[2]) << 20;
  if (!strcmp(what, "memfd"))
    hold_memfd();
  else if (!strcmp(what, "cache"))
    hold_cache();
  else if (!strcmp(what, "shared"))
    hold_shared();
  else if (!strcmp(what, "pipe"))
    hold_pipes();
  else if (!strcmp(what, "threads"))
    hold_by_threads();
  else if (!strcmp(what, "rename"))
    rename_and_exec(argv);
  else if (!strcmp(what, "daemon"))
    leave_daemon();
  else
    return 2;
  sleep_ms(50);
  return 0;
}
