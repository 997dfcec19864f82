// One process that holds an object of every kind, each a prime number of pages,
// and a child that shares some. It prints a line "name value" for what a test
// must know, then "ready", and waits for its standard input to end.
//
//   objects DIRECTORY EVENTFDS HUGE_PAGES
//
// DIRECTORY takes two files on a disk; /dev/shm one that stays until the end.
// With 0 HUGE_PAGES none are asked for. What may be missing here (BPF,
// io_uring) prints "name none REASON".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 4096 };

static int detached_segment = -1;
static char tmpfs_path[64];

static void clean_up(void) {
  if (detached_segment >= 0) shmctl(detached_segment, IPC_RMID, NULL);
  if (tmpfs_path[0]) unlink(tmpfs_path);
}

static void must(int is_true, const char* what) {
  if (is_true) return;
  perror(what);
  clean_up();
  exit(1);
}

static void say(const char* name, unsigned long long value) {
  printf("%s %llu\n", name, value);
}

static unsigned long long inode_of(int fd) {
  struct stat facts;
  must(fstat(fd, &facts) == 0, "fstat");
  return facts.st_ino;
}

static void fill(int fd, size_t pages) {
  char page[kPage];
  memset(page, 1, sizeof page);
  for (size_t i = 0; i < pages; ++i)
    must(write(fd, page, sizeof page) == kPage, "write");
}

static char* map(int fd, size_t pages, int protection, int flags) {
  char* area = mmap(NULL, pages * kPage, protection, flags, fd, 0);
  must(area != MAP_FAILED, "mmap");
  return area;
}

static int make_memfd(const char* name, size_t pages, unsigned flags) {
  int fd = memfd_create(name, MFD_CLOEXEC | flags);
  must(fd >= 0, "memfd_create");
  if (pages) fill(fd, pages);
  return fd;
}

static int make_file(const char* directory, const char* name, size_t pages) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  must(fd >= 0, path);
  fill(fd, pages);
  return fd;
}

static void make_files(const char* directory) {
  int file = make_file(directory, "mapped twice", 41);
  map(file, 41, PROT_READ, MAP_SHARED);
  map(file, 41, PROT_READ | PROT_WRITE, MAP_SHARED);
  say("file", inode_of(file));
  // Two pages of a private mapping become its own.
  char* copy = map(file, 41, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  copy[0] = copy[kPage] = 2;
  printf("copy %lx\n", (unsigned long)copy);
  close(file);

  int deleted = make_file(directory, "deleted", 79);
  char path[4096];
  snprintf(path, sizeof path, "%s/deleted", directory);
  must(unlink(path) == 0, path);
  say("deleted", inode_of(deleted));
}

static void make_memfds(void) {
  int mapped = make_memfd("mapped", 43, 0);
  map(mapped, 43, PROT_READ | PROT_WRITE, MAP_SHARED);
  say("memfd_mapped", inode_of(mapped));
  say("memfd_held", inode_of(make_memfd("held", 47, 0)));
}

static void send_away(size_t pages) {
  int ends[2];
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  int fd = make_memfd("in flight", pages, 0);
  say("memfd_in_flight", inode_of(fd));
  char byte = 0;
  struct iovec data = {&byte, 1};
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
  } control;
  struct msghdr message = {.msg_iov = &data,
                           .msg_iovlen = 1,
                           .msg_control = &control,
                           .msg_controllen = sizeof control};
  control.head.cmsg_level = SOL_SOCKET;
  control.head.cmsg_type = SCM_RIGHTS;
  control.head.cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
  must(sendmsg(ends[0], &message, 0) == 1, "sendmsg");
  close(fd);
}

static void make_tmpfs(void) {
  int gone = open("/dev/shm", O_RDWR | O_TMPFILE, 0600);
  must(gone >= 0, "/dev/shm");
  fill(gone, 59);
  say("tmpfs_deleted", inode_of(gone));
  snprintf(tmpfs_path, sizeof tmpfs_path, "/dev/shm/tidemark-objects.%d",
           getpid());
  int closed = open(tmpfs_path, O_RDWR | O_CREAT | O_EXCL, 0600);
  must(closed >= 0, tmpfs_path);
  fill(closed, 61);
  say("tmpfs_closed", inode_of(closed));
  close(closed);
}

static int make_segment(size_t pages) {
  int segment = shmget(IPC_PRIVATE, pages * kPage, IPC_CREAT | 0600);
  must(segment >= 0, "shmget");
  char* area = shmat(segment, NULL, 0);
  must(area != (char*)-1, "shmat");
  memset(area, 1, pages * kPage);
  if (pages == 71) must(shmdt(area) == 0, "shmdt");
  return segment;
}

static void make_segments(void) {
  int attached = make_segment(67);
  shmctl(attached, IPC_RMID, NULL);
  say("sysv_attached", (unsigned)attached);
  detached_segment = make_segment(71);
  say("sysv_detached", (unsigned)detached_segment);
}

static void make_huge(int pages) {
  if (pages == 0) return;
  int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
  must(fd >= 0 && ftruncate(fd, (off_t)pages << 21) == 0, "huge memfd");
  char* area = mmap(NULL, (size_t)pages << 21, PROT_READ | PROT_WRITE,
                    MAP_SHARED, fd, 0);
  must(area != MAP_FAILED, "huge mmap");
  memset(area, 1, (size_t)pages << 21);
  say("huge", inode_of(fd));
}

static void make_buffers(void) {
  int ends[2];
  must(pipe2(ends, O_NONBLOCK) == 0, "pipe");
  char page[kPage] = {0};
  while (write(ends[1], page, sizeof page) > 0) {
  }
  say("pipe", inode_of(ends[0]));
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  for (int i = 0; i < 16; ++i)
    must(write(ends[0], page, sizeof page) == kPage, "socket");
  say("socket", inode_of(ends[0]));
}

static void make_bpf_map(void) {
  union bpf_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.map_type = BPF_MAP_TYPE_ARRAY;
  attributes.key_size = 4;
  attributes.value_size = kPage;
  attributes.max_entries = 83;
  int fd = (int)syscall(SYS_bpf, BPF_MAP_CREATE, &attributes, 64);
  if (fd < 0) {
    printf("bpf_map none %s\n", strerror(errno));
    return;
  }
  struct bpf_map_info info;
  memset(&info, 0, sizeof info);
  memset(&attributes, 0, sizeof attributes);
  attributes.info.bpf_fd = (uint32_t)fd;
  attributes.info.info_len = sizeof info;
  attributes.info.info = (uint64_t)(uintptr_t)&info;
  must(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attributes, 64) == 0,
       "bpf info");
  say("bpf_map", info.id);
}

static void make_ring(void) {
  struct io_uring_params set;
  memset(&set, 0, sizeof set);
  int fd = (int)syscall(SYS_io_uring_setup, 512, &set);
  if (fd < 0) {
    printf("io_uring none %s\n", strerror(errno));
    return;
  }
  size_t rings = set.cq_off.cqes + set.cq_entries * 16;
  size_t indices = set.sq_off.array + set.sq_entries * 4;
  if (indices > rings) rings = indices;
  size_t entries = set.sq_entries * 64;
  const size_t whole = kPage - 1;
  mmap(NULL, rings, PROT_READ, MAP_SHARED, fd, IORING_OFF_SQ_RING);
  mmap(NULL, entries, PROT_READ, MAP_SHARED, fd, IORING_OFF_SQES);
  say("io_uring", inode_of(fd));
  say("io_uring_bytes",
      ((rings + whole) & ~whole) + ((entries + whole) & ~whole));
}

static void make_eventfds(int count) {
  struct rlimit limit = {(rlim_t)count + 200, (rlim_t)count + 200};
  must(count < 800 || setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  for (int i = 0; i < count; ++i)
    must(eventfd(0, 0) >= 0, "eventfd");
}

int main(int argc, char** argv) {
  must(argc == 4, "objects DIRECTORY EVENTFDS HUGE_PAGES");
  make_files(argv[1]);
  make_memfds();
  make_tmpfs();
  make_segments();
  char* shared = mmap(NULL, 73 * kPage, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  must(shared != MAP_FAILED, "mmap");
  memset(shared, 1, 73 * kPage);
  printf("shared %lx\n", (unsigned long)shared);
  make_buffers();
  make_bpf_map();
  make_ring();
  pid_t child = fork();
  must(child >= 0, "fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    pause();
    _exit(0);
  }
  say("child", (unsigned long long)child);
  // Not for the child: these are counted in one process.
  send_away(53);
  make_huge(atoi(argv[3]));
  make_eventfds(atoi(argv[2]));
  puts("ready");
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {
  }
  clean_up();
  kill(child, SIGKILL);
  return 0;
}
