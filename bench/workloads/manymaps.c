// manymaps [-n REGIONS] [-k PAGES] [-t TOUCH] [-c CHURN_HZ] [-g GROW_KIB]
//          [-f FILES] [-s SECONDS] [-v] [-q]
//
// A process with many separate mappings, for readers of /proc/PID/smaps.
// REGIONS (2000) private anonymous mappings of PAGES (4) pages are carved out
// of one reserved area; neighbours alternate between rw- and r--, so that the
// kernel cannot merge them. The first TOUCH (2) pages of each are written to
// before the protection is lowered.
//   -c HZ  so many times a second one region (round robin) has its pages
//   dropped
//          or faulted back: a few Rss change between samples, most do not
//   -g K   one separate block grows by K KiB every second
//   -f N   N single-page mappings of /proc/self/exe at spread offsets
//   -s S   ends after S seconds; without it, when killed
//   -v     prints "grow UNIX_TIME KIB" each time -g grows
//   -q     does not print "ready pid=… maps=… rss_kib=…" once it is set up
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct Options {
  long regions, pages, touched, churn_hz, grow_kib, files;
  double seconds;
  int is_quiet, is_verbose;
};

struct Growth {
  char* block;
  size_t used_bytes;
  double next_s;
};

static const size_t kGrowthLimitBytes = (size_t)1 << 30;
static const int kReadWrite = PROT_READ | PROT_WRITE;
static size_t page_bytes;

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char* what) {
  fprintf(stderr, "manymaps: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int parse_options(int argc, char** argv, struct Options* o) {
  int letter = 0;
  while ((letter = getopt(argc, argv, "n:k:t:c:g:f:s:qv")) != -1) {
    switch (letter) {
      case 'n':
        o->regions = atol(optarg);
        break;
      case 'k':
        o->pages = atol(optarg);
        break;
      case 't':
        o->touched = atol(optarg);
        break;
      case 'c':
        o->churn_hz = atol(optarg);
        break;
      case 'g':
        o->grow_kib = atol(optarg);
        break;
      case 'f':
        o->files = atol(optarg);
        break;
      case 's':
        o->seconds = atof(optarg);
        break;
      case 'q':
        o->is_quiet = 1;
        break;
      case 'v':
        o->is_verbose = 1;
        break;
      default:
        return 0;
    }
  }
  return optind == argc && o->regions > 0 && o->pages > 0 && o->touched >= 0 &&
         o->touched <= o->pages && o->churn_hz >= 0 && o->churn_hz <= 1000000;
}

static char* map_anonymous(size_t bytes) {
  char* area = mmap(NULL, bytes, kReadWrite,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) die("mmap");
  madvise(area, bytes, MADV_NOHUGEPAGE);
  return area;
}

static void touch(char* region, long pages) {
  for (long p = 0; p < pages; ++p)
    region[(size_t)p * page_bytes] = (char)(p + 1);
}

static char* map_regions(const struct Options* o) {
  const size_t bytes = (size_t)o->pages * page_bytes;
  char* base = map_anonymous(bytes * (size_t)o->regions);
  for (long i = 0; i < o->regions; ++i) {
    char* region = base + (size_t)i * bytes;
    touch(region, o->touched);
    if (i % 2 == 1 && mprotect(region, bytes, PROT_READ) != 0) {
      die("mprotect (see vm.max_map_count)");
    }
  }
  return base;
}

static void map_files(long count) {
  const int fd = open("/proc/self/exe", O_RDONLY);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) != 0) die("/proc/self/exe");
  const long pages = info.st_size / (long)page_bytes;
  for (long i = 0; i < count; ++i) {
    const off_t offset = (i % (pages > 0 ? pages : 1)) * (long)page_bytes;
    volatile char* page = mmap(NULL, page_bytes, i % 2 ? PROT_READ : kReadWrite,
                               MAP_PRIVATE, fd, offset);
    if (page == MAP_FAILED) die("mmap of a file");
    (void)page[0];
  }
  close(fd);
}

static long count_mappings(void) {
  FILE* file = fopen("/proc/self/maps", "r");
  long lines = 0;
  for (int c = 0; file && (c = getc(file)) != EOF;)
    lines += c == '\n';
  if (file) fclose(file);
  return lines;
}

static long rss_kib(void) {
  FILE* file = fopen("/proc/self/statm", "r");
  long pages = 0;
  if (file && fscanf(file, "%*s %ld", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * (long)(page_bytes / 1024);
}

static void grow(const struct Options* o, struct Growth* g) {
  const size_t bytes = (size_t)o->grow_kib * 1024;
  for (size_t at = 0; at < bytes && g->used_bytes + at < kGrowthLimitBytes;
       at += page_bytes) {
    g->block[g->used_bytes + at] = 1;
  }
  g->used_bytes += bytes;
  g->next_s += 1;
  if (!o->is_verbose) return;
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  printf("grow %ld.%03ld %zu\n", (long)t.tv_sec, t.tv_nsec / 1000000,
         g->used_bytes / 1024);
  fflush(stdout);
}

// Only even regions are writable. All are dropped in turn, then all brought
// back.
static void churn(const struct Options* o, char* base, long step) {
  const size_t bytes = (size_t)o->pages * page_bytes;
  const long writable = (o->regions + 1) / 2;
  char* region = base + (size_t)(step % writable * 2) * bytes;
  if (step / writable % 2 == 1) {
    touch(region, o->touched);
  } else {
    madvise(region, bytes, MADV_DONTNEED);
  }
}

int main(int argc, char** argv) {
  struct Options o = {.regions = 2000, .pages = 4, .touched = 2};
  if (!parse_options(argc, argv, &o)) {
    fprintf(stderr,
            "usage: manymaps [-n regions] [-k pages] [-t touched] [-c churn_hz]"
            " [-g grow_kib] [-f files] [-s seconds] [-v] [-q]\n");
    return 2;
  }
  page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  char* base = map_regions(&o);
  if (o.files > 0) map_files(o.files);
  if (!o.is_quiet) {
    printf("ready pid=%d maps=%ld rss_kib=%ld\n", getpid(), count_mappings(),
           rss_kib());
    fflush(stdout);
  }
  const double start_s = now_s();
  struct Growth growth = {.next_s = start_s + 1};
  if (o.grow_kib > 0) growth.block = map_anonymous(kGrowthLimitBytes);
  for (long step = 0;; ++step) {
    const double t = now_s();
    if (o.seconds > 0 && t - start_s >= o.seconds) return 0;
    if (growth.block && t >= growth.next_s) grow(&o, &growth);
    if (o.churn_hz > 0) churn(&o, base, step);
    usleep(o.churn_hz > 0 ? (useconds_t)(1000000 / o.churn_hz) : 100000);
  }
}
