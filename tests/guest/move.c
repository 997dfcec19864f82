// Holds known memory whose pages are moved, for the guest tests.
//
//   move READY compact PAGES    takes twice as many, gives each second one back
//                               and has the kernel compact all memory
//   move READY node NODE HUGE   takes as many huge pages of 2 MiB and has
//                               another process move them to the NUMA node
//
// Prints how many of its frames are other ones afterwards, the pages it holds,
// those of its page tables and the huge ones among them; makes the file READY
// and waits to be killed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 4096, kHugePage = 2 << 20, kMostPages = 1 << 16, kMoveAll = 4 };

static uint64_t before[kMostPages];
static uint64_t after[kMostPages];

static void die(const char* what) {
  perror(what);
  exit(1);
}

// Below `align`, so that a huge page fits in from the start.
static char* take(size_t size, size_t align, int advice) {
  char* area = mmap(NULL, size + align, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) die("mmap");
  area += -(uintptr_t)area % align;
  if (madvise(area, size, advice) != 0) die("madvise");
  for (size_t at = 0; at < size; at += kPage)
    memcpy(area + at, &at, sizeof at);
  area[0] = 1;
  return area;
}

static void note_frames(const char* area, size_t pages, uint64_t* frames) {
  int fd = open("/proc/self/pagemap", O_RDONLY);
  off_t at = (off_t)((uintptr_t)area / kPage * 8);
  if (fd < 0 || pread(fd, frames, pages * 8, at) != (ssize_t)(pages * 8))
    die("pagemap");
  close(fd);
}

static long kib_of(const char* file, const char* label) {
  FILE* lines = fopen(file, "r");
  char line[256];
  long found = 0;
  if (!lines) die(file);
  while (fgets(line, sizeof line, lines)) {
    if (strncmp(line, label, strlen(label)) == 0)
      found = atol(line + strlen(label));
  }
  fclose(lines);
  return found;
}

static void compact(void) {
  int fd = open("/proc/sys/vm/compact_memory", O_WRONLY);
  if (fd < 0 || write(fd, "1", 1) != 1) die("compact_memory");
  close(fd);
}

static void give_back_each_second(char* area, size_t pages) {
  for (size_t i = 0; i < pages; i += 2)
    if (madvise(area + i * kPage, kPage, MADV_DONTNEED) != 0) die("madvise");
}

// By another process, whose pages the new ones must not become. It maps them as
// well, which asks for all mappings to be moved (MPOL_MF_MOVE_ALL).
static void have_moved(char* area, size_t count, int node) {
  pid_t owner = getpid();
  pid_t mover = fork();
  int status;
  if (mover == 0) {
    for (size_t i = 0; i < count; ++i) {
      void* page = area + i * kHugePage;
      int result;
      if (syscall(SYS_move_pages, owner, 1UL, &page, &node, &result, kMoveAll) <
          0)
        die("move_pages");
    }
    _exit(0);
  }
  if (waitpid(mover, &status, 0) != mover || status != 0) die("mover");
}

int main(int count, char** words) {
  char* area;
  size_t pages;
  size_t held = 0;
  size_t moved = 0;
  int ready;
  if (count == 4 && strcmp(words[2], "compact") == 0) {
    pages = 2 * strtoul(words[3], NULL, 10);
    if (pages > kMostPages) return 2;
    area = take(pages * kPage, kPage, MADV_NOHUGEPAGE);
    give_back_each_second(area, pages);
    note_frames(area, pages, before);
    compact();
  } else if (count == 5 && strcmp(words[2], "node") == 0) {
    const size_t huge = strtoul(words[4], NULL, 10);
    pages = huge * (kHugePage / kPage);
    if (pages > kMostPages) return 2;
    area = take(huge * kHugePage, kHugePage, MADV_HUGEPAGE);
    note_frames(area, pages, before);
    have_moved(area, huge, atoi(words[3]));
  } else {
    return 2;
  }
  note_frames(area, pages, after);
  for (size_t i = 0; i < pages; ++i) {
    held += after[i] >> 63;
    moved += after[i] >> 63 && before[i] != after[i];
  }
  printf("%zu %zu %ld %ld\n", moved, held,
         kib_of("/proc/self/status", "VmPTE:") / 4,
         kib_of("/proc/self/smaps_rollup", "AnonHugePages:") / 4);
  fflush(stdout);
  ready = open(words[1], O_CREAT | O_WRONLY, 0644);
  if (ready < 0) die(words[1]);
  close(ready);
  for (;;)
    pause();
}
