#include "source/probe_target.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "base/page_size.h"
#include "base/text.h"
#include "parse/machine_files.h"
#include "parse/process_files.h"

namespace tidemark::source {
namespace {

constexpr size_t kEnoughTargets = 8;
constexpr uid_t kNobody = 65534;

// In the child, between fork and its end: only system calls.
[[noreturn]] void sleep_as_nobody(int ready, pid_t parent) {
  const bool is_other =
      ::getuid() != kNobody &&
      ::syscall(SYS_setresgid, kNobody, kNobody, kNobody) == 0 &&
      ::syscall(SYS_setresuid, kNobody, kNobody, kNobody) == 0;
  // After the change of user, which clears it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const char answer = is_other && ::getppid() == parent ? '1' : '0';
  if (::write(ready, &answer, 1) == 1 && answer == '1') ::pause();
  ::_exit(0);
}

// The link to its namespace is told to those who may read its memory.
bool is_guarded(const Roots& roots, const std::string& pid) {
  base::Result<std::string> link =
      base::read_link_at(roots.proc, pid + "/ns/user");
  return !link && link.error().kind == base::ErrorKind::Denied;
}

// "hidepid=invisible" when this proc shows strangers nothing of each other.
std::string hidepid_option(const Roots& roots) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/mountinfo");
  if (!text) return {};
  base::Result<std::vector<parse::Mount>> mounts =
      parse::parse_mountinfo(*text);
  if (!mounts) return {};
  std::string found;
  for (const parse::Mount& mount : *mounts) {
    if (mount.mount_point != roots.proc.path) continue;
    found.clear();  // a later mount covers the earlier one
    for (std::string_view option : base::split(mount.super_options, ',')) {
      if (option.starts_with("hidepid=")) found = option;
    }
  }
  return found == "hidepid=off" || found == "hidepid=0" ? "" : found;
}

}  // namespace

OtherUserChild::OtherUserChild(OtherUserChild&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)) {}

OtherUserChild::~OtherUserChild() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

OtherUserChild OtherUserChild::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return OtherUserChild(0);
  base::Fd read_end(ends[0]);
  base::Fd write_end(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return OtherUserChild(0);
  if (pid == 0) sleep_as_nobody(write_end.get(), parent);
  OtherUserChild child(pid);
  write_end = base::Fd();
  char answer = '0';
  ssize_t got = -1;
  do {
    got = ::read(read_end.get(), &answer, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 1 && answer == '1') return child;
  return OtherUserChild(0);  // and `child` is reaped here
}

TouchedPage::TouchedPage() : size_bytes_(base::page_bytes()) {
  void* page = ::mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  *static_cast<volatile char*>(page) = 1;
  page_ = page;
}

TouchedPage::~TouchedPage() {
  if (page_) ::munmap(page_, size_bytes_);
}

Targets find_targets(const Roots& roots) {
  Targets targets;
  base::Result<std::vector<std::string>> names =
      base::list_directory(roots.proc);
  if (!names) {
    targets.why_no_others = names.error().what;
    return targets;
  }
  std::string text;
  for (const std::string& name : *names) {
    if (targets.others.size() == kEnoughTargets) break;
    std::optional<int32_t> pid = base::parse_pid(name);
    if (!pid || !base::read_file_at(roots.proc, name + "/status", text)) {
      continue;
    }
    base::Result<model::ProcessStatus> status = parse::parse_status(text);
    if (!status || !status->rss_bytes || !status->user_id) continue;
    if (*status->user_id != ::geteuid()) {
      targets.others.push_back(*pid);
    } else if (is_guarded(roots, name)) {
      if (targets.guarded.size() < kEnoughTargets) {
        targets.guarded.push_back(*pid);
      }
    } else if (*pid != ::getpid()) {
      targets.own = *pid;
    }
  }
  if (targets.others.empty()) {
    const std::string hidden = hidepid_option(roots);
    targets.are_hidden = !hidden.empty();
    targets.why_no_others = targets.are_hidden
                                ? roots.proc.path + " is mounted with " + hidden
                                : "every process here is ours";
  }
  return targets;
}

}  // namespace tidemark::source
