// Takes pages in known ways, as it is told by lines on its standard input, and
// answers each with "done":
//
//   keep N     touches N pages of its own and keeps them
//   low N      the same, of those with the lowest frames it can get: these
//              are the first that compaction moves
//   drop       gives all of those back
//   churn N    takes and gives back 16 MiB, N times
//   huge N     touches N MiB as huge pages, where there are any
//   halve      discards every second half of those, and lets them be split
//   splice N   N pages through the bulk allocator and away again
//   pipe N     N pages through the bulk allocator, kept in pipes until it ends
//   fork N     N processes, one after the other, that touch some pages and end
//   leave N    N processes, one after the other, each of which puts a page into
//              a memory file and ends
//   exec NAME  becomes itself again under another name
//
// It ends with its input.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 4096, kMiB = 1 << 20, kHuge = 2 * kMiB, kKept = 64 };

#ifndef MADV_COLD
#define MADV_COLD 20
#endif

static struct {
  char* at;
  size_t size;
} kept[kKept];
static int kept_count;
static char* huge;
static size_t huge_size;

static char* map(size_t size) {
  char* at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) exit(1);
  return at;
}

// Each page differs, since same ones could be stored once.
static char* touched(size_t size) {
  char* at = map(size);
  madvise(at, size, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < size; i += kPage)
    memcpy(at + i, &i, sizeof i), at[i + 9] = 1;
  return at;
}

static void keep(size_t pages) {
  if (kept_count == kKept) exit(1);
  kept[kept_count].size = pages * kPage;
  kept[kept_count].at = touched(pages * kPage);
  ++kept_count;
}

static int by_number(const void* a, const void* b) {
  const unsigned long x = *(const unsigned long*)a;
  const unsigned long y = *(const unsigned long*)b;
  return x < y ? -1 : x > y;
}

static void keep_low(size_t pages) {
  enum { kOverhang = 5 };
  const size_t all = pages * kOverhang;
  unsigned long* frames = malloc(2 * all * sizeof *frames);
  unsigned long* sorted = frames + all;
  const int pagemap = open("/proc/self/pagemap", O_RDONLY);
  keep(all);
  char* at = kept[kept_count - 1].at;
  if (pread(pagemap, frames, all * sizeof *frames,
            (off_t)((unsigned long)at / kPage * sizeof *frames)) !=
      (ssize_t)(all * sizeof *frames)) {
    exit(1);
  }
  for (size_t i = 0; i < all; ++i)
    frames[i] &= (1UL << 55) - 1;
  memcpy(sorted, frames, all * sizeof *frames);
  qsort(sorted, all, sizeof *sorted, by_number);
  for (size_t i = 0; i < all; ++i) {
    if (frames[i] >= sorted[pages])
      madvise(at + i * kPage, kPage, MADV_DONTNEED);
  }
  close(pagemap);
  free(frames);
}

static void drop(void) {
  while (kept_count > 0) {
    --kept_count;
    munmap(kept[kept_count].at, kept[kept_count].size);
  }
}

static void take_huge(size_t mib) {
  huge_size = mib * kMiB;
  char* at = map(huge_size + kHuge);
  huge = (char*)(((unsigned long)at + kHuge - 1) / kHuge * kHuge);
  madvise(huge, huge_size, MADV_HUGEPAGE);
  for (size_t i = 0; i < huge_size; i += kPage)
    huge[i] = 1;
  // What is huge by now stays so; khugepaged, which comes by every ten seconds,
  // makes none of what is halved later, which would be its own pages then.
  madvise(huge, huge_size, MADV_NOHUGEPAGE);
}

static void halve(void) {
  for (size_t i = 0; i < huge_size; i += kHuge)
    madvise(huge + i, kHuge / 2, MADV_DONTNEED);
  for (size_t i = 0; i < huge_size; i += kHuge)
    madvise(huge + i + kHuge / 2, kHuge / 4, MADV_COLD);
}

static void splice_pages(size_t pages) {
  int ends[2];
  const int zero = open("/dev/zero", O_RDONLY);
  const int null = open("/dev/null", O_WRONLY);
  if (zero < 0 || null < 0 || pipe(ends) != 0) exit(1);
  while (pages > 0) {
    const ssize_t got =
        splice(zero, NULL, ends[1], NULL, (pages > 16 ? 16 : pages) * kPage, 0);
    if (got <= 0) exit(1);
    pages -= (size_t)got / kPage;
    for (ssize_t left = got; left > 0;) {
      const ssize_t gone = splice(ends[0], NULL, null, NULL, (size_t)left, 0);
      if (gone <= 0) exit(1);
      left -= gone;
    }
  }
  close(zero);
  close(null);
  close(ends[0]);
  close(ends[1]);
}

static void fill_pipes(size_t pages) {
  enum { kPipePages = 256 };
  const int zero = open("/dev/zero", O_RDONLY);
  if (zero < 0) exit(1);
  while (pages > 0) {
    const size_t wanted = pages > kPipePages ? kPipePages : pages;
    int ends[2];
    if (pipe(ends) != 0 ||
        fcntl(ends[1], F_SETPIPE_SZ, kPipePages * kPage) < 0) {
      exit(1);
    }
    for (size_t left = wanted * kPage; left > 0;) {
      const ssize_t got =
          splice(zero, NULL, ends[1], NULL, left, SPLICE_F_NONBLOCK);
      if (got <= 0) exit(1);
      left -= (size_t)got;
    }
    pages -= wanted;
  }
  close(zero);
}

static void fork_and_end(size_t processes) {
  enum { kTouched = 8 };
  for (size_t i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) {
      touched(kTouched * kPage);
      _exit(0);
    }
    if (waitpid(child, NULL, 0) != child) exit(1);
  }
}

static void leave(size_t processes) {
  static const char page[kPage] = "left behind";
  const int file = memfd_create("left behind", 0);
  if (file < 0) exit(1);
  for (size_t i = 0; i < processes; ++i) {
    const pid_t child = fork();
    if (child < 0) exit(1);
    if (child == 0) {
      const off_t at = (off_t)(i * kPage);
      _exit(pwrite(file, page, kPage, at) != kPage);
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) exit(1);
  }
}

int main(int count, char** words) {
  static char line[256];
  static char word[16];
  static char value[200];
  (void)count;
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    value[0] = 0;
    if (sscanf(line, "%15s %199[^\n]", word, value) < 1) continue;
    const size_t number = strtoul(value, NULL, 10);
    if (!strcmp(word, "keep")) keep(number);
    if (!strcmp(word, "low")) keep_low(number);
    if (!strcmp(word, "drop")) drop();
    for (size_t i = 0; !strcmp(word, "churn") && i < number; ++i)
      munmap(touched(16 * kMiB), 16 * kMiB);
    if (!strcmp(word, "huge")) take_huge(number);
    if (!strcmp(word, "halve")) halve();
    if (!strcmp(word, "splice")) splice_pages(number);
    if (!strcmp(word, "pipe")) fill_pipes(number);
    if (!strcmp(word, "fork")) fork_and_end(number);
    if (!strcmp(word, "leave")) leave(number);
    if (!strcmp(word, "exec")) {
      // The name of the program is found before it is given another.
      execl("/proc/self/exe", value, "with", "arguments", (char*)NULL);
      return 1;
    }
    puts("done");
    fflush(stdout);
  }
  return words == NULL;
}
