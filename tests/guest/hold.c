// Holds known memory until it is killed, for the guest tests.
//
//   hold READY [private PAGES] [memfd PAGES] [hugetlb PAGES]
//
// private: anonymous pages, each written. memfd: pages of a memory file that
// stays open and is not mapped, so no smaps shows them. hugetlb: huge pages of
// 2 MiB, each written; PAGES counts those. The file READY is made at the end.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096, kHugePage = 2 << 20 };

static void die(const char* what) {
  perror(what);
  exit(1);
}

static void touch(size_t size, size_t step, int flags) {
  char* area = mmap(NULL, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (area == MAP_FAILED) die("mmap");
  // Pages that differ: same ones could be stored once.
  for (size_t at = 0; at < size; at += step)
    memcpy(area + at, &at, sizeof at);
  area[0] = 1;
}

static void fill_memfd(size_t size) {
  static char page[kPage];
  int fd = memfd_create("held, not mapped", 0);
  if (fd < 0) die("memfd_create");
  memset(page, 1, sizeof page);
  for (size_t at = 0; at < size; at += kPage) {
    if (write(fd, page, kPage) != kPage) die("write");
  }
}

int main(int count, char** words) {
  if (count < 2) return 2;
  for (int i = 2; i + 1 < count; i += 2) {
    size_t pages = strtoul(words[i + 1], NULL, 10);
    if (strcmp(words[i], "private") == 0) {
      touch(pages * kPage, kPage, 0);
    } else if (strcmp(words[i], "memfd") == 0) {
      fill_memfd(pages * kPage);
    } else if (strcmp(words[i], "hugetlb") == 0) {
      touch(pages * kHugePage, kHugePage, MAP_HUGETLB);
    } else {
      return 2;
    }
  }
  int ready = open(words[1], O_CREAT | O_WRONLY, 0644);
  if (ready < 0) die(words[1]);
  close(ready);
  for (;;)
    pause();
}
