// bare_reads [FILE…]
//
// The least that `tidemark ps` could cost: opens and reads to the end the files
// ps reads of every process, and the named ones once each, into one buffer, and
// looks at nothing but what decides which files come next. The named ones are
// those of the machine and of the cgroups; bench/run passes what it saw ps
// open. bench/run also compares both by strace: keep this in step with
// source/process_reader.cc.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBufferBytes = 64 * 1024, kFlagsField = 9, kKernelThread = 0x200000 };

static char buffer[kBufferBytes + 1];

// Returns how much of the buffer the file has filled, or -1. A file longer than
// the buffer starts over; none that is looked at is.
static ssize_t read_to_end(int directory, const char* name) {
  const int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  size_t filled = 0;
  ssize_t got = 0;
  while ((got = read(fd, buffer + filled, kBufferBytes - filled)) > 0) {
    filled += (size_t)got;
    if (filled == kBufferBytes) filled = 0;
  }
  close(fd);
  return got < 0 ? -1 : (ssize_t)filled;
}

// The text of stat is in the buffer. The name may hold anything but ends at the
// last parenthesis; the state follows as the third field, the flags are the
// ninth.
static char state_of_stat(ssize_t length, unsigned long* flags) {
  const char* end = memrchr(buffer, ')', (size_t)length);
  if (!end || end + 2 >= buffer + length) return '?';
  buffer[length] = '\0';
  const char* at = end + 1;
  for (int field = 3; field < kFlagsField && at; ++field) {
    at = strchr(at + 1, ' ');
  }
  *flags = at ? strtoul(at, NULL, 10) : 0;
  return end[2];
}

static void read_process(int proc, const char* pid) {
  const int directory = openat(proc, pid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  unsigned long flags = 0;
  const ssize_t length = read_to_end(directory, "stat");
  const char state = length > 0 ? state_of_stat(length, &flags) : '?';
  if (length > 0 && !(flags & kKernelThread)) {
    read_to_end(directory, "status");
    read_to_end(directory, "cgroup");
    if (state != 'Z' && state != 'X') {
      read_to_end(directory, "cmdline");
      // ps falls back to statm where it may not read this.
      if (read_to_end(directory, "smaps_rollup") < 0) {
        read_to_end(directory, "statm");
      }
    }
  }
  close(directory);
}

int main(int argc, char** argv) {
  const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* listing = opendir("/proc");
  if (proc < 0 || !listing) {
    perror("bare_reads: /proc");
    return 1;
  }
  for (int i = 1; i < argc; ++i)
    read_to_end(AT_FDCWD, argv[i]);
  const struct dirent* entry = NULL;
  while ((entry = readdir(listing))) {
    if (isdigit((unsigned char)entry->d_name[0])) {
      read_process(proc, entry->d_name);
    }
  }
  closedir(listing);
  close(proc);
  return 0;
}
