// Preloaded into a program that writes a recording: kills it in the middle of
// the n-th storage call on a file whose name holds KILL_AT_FILE, with a part of
// that write done. A process dies so at any moment; this makes it reproducible.
//
//   KILL_AT_FILE   part of the name of the files that count
//   KILL_AT_CALL   which call is the last; 0: none, they are only counted
//   KILL_AT_PART   quarters of that write that are done, 0 to 3
//   KILL_AT_FROM   a file that must exist for calls to count; may be empty
//   KILL_AT_LOG    where the count, or the time of death in ns, is left
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value != NULL ? value : "";
}

static void leave(long long number) {
  char text[32];
  const int length = snprintf(text, sizeof text, "%lld\n", number);
  const int file =
      open(setting("KILL_AT_LOG"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) return;
  syscall(SYS_write, file, text, (size_t)length);
  close(file);
}

static int is_meant(int file) {
  char link[64];
  char name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, name, sizeof name - 1);
  if (length <= 0) return 0;
  name[length] = '\0';
  const char* part = setting("KILL_AT_FILE");
  if (part[0] == '\0' || strstr(name, part) == NULL) return 0;
  const char* from = setting("KILL_AT_FROM");
  return from[0] == '\0' || access(from, F_OK) == 0;
}

// How much of `size` may be done: all of it, or a part and then no more.
static int is_last(int file) {
  if (!is_meant(file)) return 0;
  const long number = atomic_fetch_add(&calls, 1) + 1;
  return number == atol(setting("KILL_AT_CALL"));
}

static size_t part_of(size_t size) {
  return size / 4 * (size_t)atol(setting("KILL_AT_PART"));
}

static void die(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  leave(now.tv_sec * 1000000000LL + now.tv_nsec);
  kill(getpid(), SIGKILL);
  pause();
}

__attribute__((destructor)) static void tell(void) {
  if (setting("KILL_AT_FILE")[0] != '\0') leave(atomic_load(&calls));
}

ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  if (is_last(file)) {
    syscall(SYS_pwrite64, file, bytes, part_of(size), at);
    die();
  }
  return syscall(SYS_pwrite64, file, bytes, size, at);
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return pwrite64(file, bytes, size, at);
}

ssize_t write(int file, const void* bytes, size_t size) {
  if (is_last(file)) {
    syscall(SYS_write, file, bytes, part_of(size));
    die();
  }
  return syscall(SYS_write, file, bytes, size);
}

int fdatasync(int file) {
  if (is_last(file)) die();
  return (int)syscall(SYS_fdatasync, file);
}

int fsync(int file) {
  if (is_last(file)) die();
  return (int)syscall(SYS_fsync, file);
}

int ftruncate64(int file, off64_t size) {
  if (is_last(file)) die();
  return (int)syscall(SYS_ftruncate, file, size);
}

int ftruncate(int file, off_t size) {
  return ftruncate64(file, size);
}

int unlink(const char* path) {
  const char* part = setting("KILL_AT_FILE");
  if (part[0] != '\0' && strstr(path, part) != NULL) {
    const int file = open(path, O_RDONLY);
    const int last = file >= 0 && is_last(file);
    if (file >= 0) close(file);
    if (last) die();
  }
  return (int)syscall(SYS_unlink, path);
}
