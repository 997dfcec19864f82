#include "source/target/guardian.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "parse/process_files.h"
#include "source/trace_instance.h"

namespace tidemark::source {
namespace {

constexpr char kFreeze = 'F';
constexpr char kThawed = 'T';
constexpr char kDismissed = 'D';
constexpr int kFrozenAtMostMs = 200;
constexpr int kForever = -1;

void thaw(const GuardedThings& things) {
  for (const GroupPlace& place : things.groups) {
    static_cast<void>(set_frozen(place, false));
  }
}

bool is_stopped(int32_t pid) {
  base::Result<base::Directory> proc = base::open_directory("/proc");
  if (!proc) return false;
  base::Result<std::string> text =
      base::read_file_at(*proc, std::to_string(pid) + "/stat");
  if (!text) return false;
  base::Result<model::ProcessStat> stat = parse::parse_stat(*text);
  return stat && stat->state == 'T';
}

// The writer of the files ends because we did, and may add one meanwhile.
void remove_folder(const std::string& path) {
  constexpr int kTries = 50;
  constexpr useconds_t kPauseUs = 100'000;
  for (int i = 0; i < kTries; ++i) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    ::usleep(kPauseUs);
    if (!std::filesystem::exists(path, error)) return;
  }
}

void undo(const GuardedThings& things) {
  thaw(things);
  if (things.continues_stopped && !things.groups.empty()) {
    for (int32_t pid : group_members(things.groups.front())) {
      if (is_stopped(pid)) ::kill(pid, SIGCONT);
    }
  }
  for (const GroupPlace& place : things.groups) {
    static_cast<void>(undo_group(place));
  }
  for (const std::string& name : things.trace_instances) {
    static_cast<void>(remove_trace_instance(name));
  }
  for (const std::string& path : things.folders)
    remove_folder(path);
}

// Whoever leads our session or terminal may end us with it, and then nobody
// would be left: out of both, and deaf to what is meant for the command.
void detach(int line) {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP}) {
    ::signal(number, SIG_IGN);
  }
  ::setsid();
  ::prctl(PR_SET_NAME, "tidemark-guard");
  // The command's readers wait for the last writer of its output to go.
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::dup2(null, fd);
  }
  constexpr int kLine = 3;
  ::dup2(line, kLine);
  ::close_range(kLine + 1, ~0U, 0);
}

[[noreturn]] void guard(const GuardedThings& things, int line) {
  detach(line);
  constexpr int kLine = 3;
  int timeout = kForever;
  while (true) {
    pollfd waiting{kLine, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, timeout);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      thaw(things);
      timeout = kForever;
      continue;
    }
    char word = 0;
    const ssize_t got = ::read(kLine, &word, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) break;
    if (word == kDismissed) ::_exit(0);
    timeout = word == kFreeze ? kFrozenAtMostMs : kForever;
  }
  undo(things);
  ::_exit(0);
}

}  // namespace

base::Result<Guardian> Guardian::start(const GuardedThings& things) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno("pipe", errno);
  base::Fd read_end(ends[0]);
  base::Fd write_end(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return base::fail_errno("cannot start the guardian", errno);
  if (pid == 0) guard(things, read_end.get());
  return Guardian(pid, std::move(write_end));
}

Guardian::Guardian(pid_t pid, base::Fd line)
    : pid_(pid), line_(std::move(line)) {}

Guardian::Guardian(Guardian&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), line_(std::move(other.line_)) {}

Guardian::~Guardian() {
  if (pid_ == 0) return;
  say(kDismissed);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guardian::will_freeze() {
  say(kFreeze);
}

void Guardian::has_thawed() {
  say(kThawed);
}

void Guardian::say(char word) {
  while (::write(line_.get(), &word, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace tidemark::source
