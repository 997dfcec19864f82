// Touches known amounts of memory in functions of known names, a step for each
// line of standard input, and says "done" after each.
//
//   shares            big 96 MiB, small 32 MiB; drops big; mapped 24 MiB of a
//   file shares jit        48 MiB touched by code that is made at run time
//   shares split      huge 64 MiB; its huge pages are parted and given back
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define APART __attribute__((noinline))

static void touch(char* at, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 4096)
    ((volatile char*)at)[i] = 1;
}

APART char* take_big(void) {
  char* at = malloc(96 * MIB);
  touch(at, 96 * MIB);
  return at;
}

APART char* take_small(void) {
  char* at = malloc(32 * MIB);
  touch(at, 32 * MIB);
  return at;
}

APART void fill_stack(void) {
  char room[4 * 1048576];
  touch(room, sizeof room);
}

static void* in_thread(void* unused) {
  fill_stack();
  pause();
  return unused;
}

// Private pages of a file that are written to.
APART char* write_mapped(void) {
  int fd = memfd_create("shares", 0);
  if (fd < 0 || ftruncate(fd, 24 * MIB) != 0) exit(1);
  char* at = mmap(0, 24 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) exit(1);
  touch(at, 24 * MIB);
  return at;
}

APART char* take_huge(void) {
  char* at = aligned_alloc(2 * MIB, 64 * MIB);
  if (madvise(at, 64 * MIB, MADV_HUGEPAGE) != 0) exit(1);
  touch(at, 64 * MIB);
  return at;
}

// void(char* at, size_t pages): mov byte [rdi],1; add rdi,4096; dec rsi; jnz
static const unsigned char kCode[] = {0x55, 0x48, 0x89, 0xe5, 0xc6, 0x07, 0x01,
                                      0x48, 0x81, 0xc7, 0x00, 0x10, 0x00, 0x00,
                                      0x48, 0xff, 0xce, 0x75, 0xf1, 0x5d, 0xc3};

APART char* run_made_code(void) {
  char* code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code, kCode, sizeof kCode);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", getpid());
  FILE* map = fopen(name, "w");
  fprintf(map, "%lx %zx made_at_run_time\n", (unsigned long)code, sizeof kCode);
  fclose(map);
  char* at = malloc(48 * MIB + 8192);
  ((void (*)(char*, size_t))code)(at + 4096, 48 * MIB / 4096);
  return at;
}

// Advice for a part of a huge page has the kernel part it.
APART void drop_in_parts(char* huge) {
  for (size_t i = 0; i < 64 * MIB; i += 2 * MIB)
    if (madvise(huge + i, 4096, MADV_COLD) != 0) exit(1);
  if (madvise(huge, 64 * MIB, MADV_DONTNEED) != 0) exit(1);
}

static void step(void) {
  puts("done");
  fflush(stdout);
  if (getchar() == EOF) exit(0);
}

int main(int argc, char** argv) {
  step();
  if (argc > 1 && strcmp(argv[1], "jit") == 0) {
    run_made_code();
    step();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "split") == 0) {
    char* huge = take_huge();
    step();
    drop_in_parts(huge);
    step();
    return 0;
  }
  char* big = take_big();
  take_small();
  pthread_t thread;
  pthread_create(&thread, 0, in_thread, 0);
  write_mapped();
  take_huge();
  usleep(50000);
  step();
  free(big);
  step();
  return 0;
}
