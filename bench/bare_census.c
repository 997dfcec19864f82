// bare_census
//
// The least that `tidemark ledger` could cost: reads kpageflags, kpagecount and
// kpagecgroup over all System RAM in pieces of 4 MiB, and asks every process
// for the frames of its present pages, by PAGEMAP_SCAN and pagemap. Looks at
// nothing but what decides where to read next.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { kPage = 4096, kBufferBytes = 4 << 20, kRegions = 512 };

// struct page_region and struct pm_scan_arg of linux/fs.h, which is newer than
// the headers of Debian 12.
struct region {
  uint64_t start, end, categories;
};
struct scan {
  uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
  uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
enum { kIsPresent = 1 << 3, kIsZero = 1 << 5 };

static char buffer[kBufferBytes];
static struct region regions[kRegions];

static void read_range(const char* name, uint64_t first, uint64_t last) {
  const int fd = open(name, O_RDONLY | O_CLOEXEC);
  uint64_t at = first * sizeof(uint64_t);
  const uint64_t end = last * sizeof(uint64_t);
  while (fd >= 0 && at < end) {
    const uint64_t left = end - at;
    const ssize_t got =
        pread(fd, buffer, left < kBufferBytes ? left : kBufferBytes, (off_t)at);
    if (got <= 0) break;
    at += (uint64_t)got;
  }
  if (fd >= 0) close(fd);
}

static int read_memory(void) {
  FILE* iomem = fopen("/proc/iomem", "re");
  char line[256];
  unsigned long long first = 0;
  unsigned long long last = 0;
  int count = 0;
  while (iomem && fgets(line, sizeof line, iomem)) {
    if (!strstr(line, ": System RAM")) continue;
    if (sscanf(line, "%llx-%llx", &first, &last) != 2 || last == 0) continue;
    first = (first + kPage - 1) / kPage;
    last = (last + 1) / kPage;
    read_range("/proc/kpageflags", first, last);
    read_range("/proc/kpagecount", first, last);
    read_range("/proc/kpagecgroup", first, last);
    ++count;
  }
  if (iomem) fclose(iomem);
  return count;
}

static void walk_process(const char* pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%.16s/pagemap", pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  const uint64_t end = (UINT64_C(1) << 47) - kPage;
  struct scan scan = {.size = sizeof scan,
                      .end = end,
                      .vec = (uintptr_t)regions,
                      .vec_len = kRegions,
                      .category_mask = kIsPresent | kIsZero,
                      .category_inverted = kIsZero,
                      .return_mask = kIsPresent};
  while (fd >= 0 && scan.start < end) {
    const int got = ioctl(fd, _IOWR('f', 16, struct scan), &scan);
    if (got < 0) break;
    for (int i = 0; i < got; ++i) {
      const uint64_t at = regions[i].start / kPage * sizeof(uint64_t);
      const uint64_t size =
          (regions[i].end - regions[i].start) / kPage * sizeof(uint64_t);
      for (uint64_t done = 0; done < size; done += kBufferBytes) {
        const uint64_t left = size - done;
        if (pread(fd, buffer, left < kBufferBytes ? left : kBufferBytes,
                  (off_t)(at + done)) <= 0) {
          break;
        }
      }
    }
    if (scan.walk_end <= scan.start) break;
    scan.start = scan.walk_end;
  }
  if (fd >= 0) close(fd);
}

int main(void) {
  DIR* listing = opendir("/proc");
  const struct dirent* entry = NULL;
  while (listing && (entry = readdir(listing))) {
    if (isdigit((unsigned char)entry->d_name[0])) walk_process(entry->d_name);
  }
  if (listing) closedir(listing);
  if (read_memory() > 0) return 0;
  fprintf(stderr, "bare_census: no RAM in /proc/iomem: it needs root\n");
  return 1;
}
