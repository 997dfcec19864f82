#include "source/netlink/process_events.h"

#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "parse/process_files.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using base::Result;
using base::Status;

// The initial namespaces have had these numbers since 3.8. The kernel says
// nothing to those in others, neither yes nor no, so they are told here.
constexpr ino_t kInitialPidNamespace = 0xEFFFFFFC;
constexpr ino_t kInitialUserNamespace = 0xEFFFFFFD;

Status require_namespace(const char* link, ino_t initial, const char* kind) {
  struct stat status {};
  // Without the file the kernel was built without such namespaces.
  if (::stat(link, &status) != 0 || status.st_ino == initial) {
    return base::Ok{};
  }
  return base::fail(ErrorKind::Unsupported,
                    std::string("process events are told in the initial ") +
                        kind +
                        " namespace alone, and this is another (a container)");
}

Result<base::Fd> poll_both(int first, int second) {
  base::Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return base::fail_errno("epoll", errno);
  for (int fd : {first, second}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
      return base::fail_errno("epoll", errno);
    }
  }
  return epoll;
}

// stat tells when a process began in ticks of the clock that runs on while the
// machine sleeps; what happened is told in the one that does not.
uint64_t monotonic_start_ns(const model::ProcessStat& stat, uint64_t now_ns) {
  timespec boot{};
  (void)::clock_gettime(CLOCK_BOOTTIME, &boot);
  const uint64_t boot_ns =
      static_cast<uint64_t>(boot.tv_sec) * base::kNsPerSecond +
      static_cast<uint64_t>(boot.tv_nsec);
  const auto ticks_per_second = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  const uint64_t start_ns =
      stat.start_ticks * (base::kNsPerSecond / ticks_per_second);
  const uint64_t age_ns = boot_ns - std::min(start_ns, boot_ns);
  return now_ns - std::min(age_ns, now_ns);
}

std::optional<model::ProcessStat> read_stat(const base::Directory& proc,
                                            int32_t pid) {
  Result<std::string> text =
      base::read_file_at(proc, std::to_string(pid) + "/stat");
  if (!text) return std::nullopt;
  Result<model::ProcessStat> stat = parse::parse_stat(*text);
  if (!stat) return std::nullopt;
  return std::move(*stat);
}

// A first thread that has ended stays as a zombie while others live.
uint64_t living_thread_count(const model::ProcessStat& stat) {
  const bool is_leader_gone = stat.state == 'Z' || stat.state == 'X';
  return stat.thread_count - (is_leader_gone && stat.thread_count > 0 ? 1 : 0);
}

std::string read_path(const base::Directory& proc, int32_t pid) {
  Result<std::string> path =
      base::read_link_at(proc, std::to_string(pid) + "/exe");
  return path ? std::move(*path) : std::string();
}

}  // namespace

ProcessEvents::ProcessEvents(ConnectorFeed connector, TaskstatsFeed taskstats,
                             base::Fd epoll, base::Directory proc)
    : connector_(std::move(connector)),
      taskstats_(std::move(taskstats)),
      epoll_(std::move(epoll)),
      proc_(std::move(proc)) {}

Result<ProcessEvents> ProcessEvents::listen() {
  Status status =
      require_namespace("/proc/self/ns/pid", kInitialPidNamespace, "pid");
  if (!status) return status.error();
  status =
      require_namespace("/proc/self/ns/user", kInitialUserNamespace, "user");
  if (!status) return status.error();
  Result<base::Directory> proc = base::open_directory("/proc");
  if (!proc) return proc.error();
  // Records first: an exit whose event is told has had its record sent.
  Result<TaskstatsFeed> taskstats = TaskstatsFeed::open();
  if (!taskstats) return taskstats.error();
  Result<ConnectorFeed> connector = ConnectorFeed::open();
  if (!connector) return connector.error();
  Result<base::Fd> epoll =
      poll_both(connector->socket().fd(), taskstats->socket().fd());
  if (!epoll) return epoll.error();
  return ProcessEvents(std::move(*connector), std::move(*taskstats),
                       std::move(*epoll), std::move(*proc));
}

void ProcessEvents::follow(int32_t root_pid) {
  if (add_found(root_pid)) return;
  // It has ended already, and its fork and exit are waiting to be read. If they
  // are not, looking for it once more will end it.
  model::ProcessLife life;
  life.pid = root_pid;
  const uint64_t now_ns = base::monotonic_ns();
  life.started_ns = now_ns;
  lives_.add_running(std::move(life), 1, now_ns);
  must_look_again_ = true;
}

Status ProcessEvents::drain(const ProcessLives::Taker& ended) {
  Status status = apply_all(ended);
  if (!status) return status;
  if (!must_look_again_ && lost_count() == looked_at_lost_count_) {
    return base::Ok{};
  }
  return look_again(ended);
}

void ProcessEvents::finish(const ProcessLives::Taker& ended) {
  lives_.take_all_ended(ended);
}

std::vector<model::ProcessLife> ProcessEvents::living_lives() const {
  std::vector<model::ProcessLife> lives = lives_.living_lives();
  for (model::ProcessLife& life : lives) {
    // Exec does not tell the name, and theirs is in no record yet.
    std::optional<model::ProcessStat> stat = read_stat(proc_, life.pid);
    if (stat) life.comm = std::move(stat->comm);
  }
  return lives;
}

uint64_t ProcessEvents::lost_count() const {
  return connector_.socket().overrun_count() +
         taskstats_.socket().overrun_count();
}

Status ProcessEvents::apply_all(const ProcessLives::Taker& ended) {
  for (;;) {
    Result<std::vector<parse::ProcessEvent>> events = connector_.receive();
    if (!events) return events.error();
    if (events->empty()) break;
    for (const parse::ProcessEvent& event : *events) {
      Status status = apply(event);
      if (!status) return status;
    }
    lives_.take_ended(ended);
  }
  lives_.clear_shelf();
  // Records of exits whose events are still to come, and the whole machine's:
  // left unread they would keep our descriptor readable.
  Result<bool> is_more = true;
  while (is_more && *is_more) {
    is_more = shelve_records();
  }
  if (!is_more) return is_more.error();
  return base::Ok{};
}

Status ProcessEvents::apply(const parse::ProcessEvent& event) {
  std::string path;
  if (event.kind == parse::ProcessEventKind::Exec &&
      lives_.is_living(event.pid)) {
    path = read_path(proc_, event.pid);
  }
  if (event.kind == parse::ProcessEventKind::Exit) {
    while (!lives_.is_ready_for(event)) {
      Result<bool> is_more = shelve_records();
      if (!is_more) return is_more.error();
      if (!*is_more) break;  // lost
    }
  }
  lives_.apply(event, std::move(path));
  return base::Ok{};
}

// Those of one datagram. False when there was none.
Result<bool> ProcessEvents::shelve_records() {
  Result<std::vector<parse::ExitRecord>> records = taskstats_.receive();
  if (!records) return records.error();
  for (parse::ExitRecord& record : *records)
    lives_.shelve(std::move(record));
  return !records->empty();
}

// After a loss the counts may be wrong: what is there is counted anew, what is
// gone has ended.
Status ProcessEvents::look_again(const ProcessLives::Taker& ended) {
  must_look_again_ = false;
  looked_at_lost_count_ = lost_count();
  // Records whose exit was lost would go to the next process with that pid.
  lives_.clear_shelf();
  std::vector<int32_t> gone;
  for (int32_t pid : lives_.living()) {
    if (!add_found(pid)) gone.push_back(pid);
  }
  adopt_children();
  // An exit of just now tells more than that it is gone.
  Status status = apply_all(ended);
  const uint64_t now_ns = base::monotonic_ns();
  for (int32_t pid : gone)
    lives_.end_unseen(pid, now_ns);
  lives_.take_ended(ended);
  return status;
}

// Those of the tree that were forked unseen. Below an unseen one that has ended
// since they are another's children now, and stay unknown.
void ProcessEvents::adopt_children() {
  Result<std::vector<std::string>> names = base::list_directory(proc_);
  if (!names) return;
  bool has_found = true;
  while (has_found) {
    has_found = false;
    for (const std::string& name : *names) {
      const std::optional<int32_t> pid = base::parse_pid(name);
      if (!pid || lives_.is_living(*pid)) continue;
      const std::optional<model::ProcessStat> stat = read_stat(proc_, *pid);
      if (!stat || !lives_.is_living(stat->parent_pid)) continue;
      if (add_found(*pid)) has_found = true;
    }
  }
}

// Adds it as it is now; false when it has ended.
bool ProcessEvents::add_found(int32_t pid) {
  const uint64_t now_ns = base::monotonic_ns();
  std::optional<model::ProcessStat> stat = read_stat(proc_, pid);
  if (!stat || living_thread_count(*stat) == 0) return false;
  model::ProcessLife life;
  life.pid = pid;
  life.parent_pid = stat->parent_pid;
  life.comm = std::move(stat->comm);
  life.path = read_path(proc_, pid);
  life.started_ns = monotonic_start_ns(*stat, now_ns);
  lives_.add_running(std::move(life), living_thread_count(*stat), now_ns);
  return true;
}

}  // namespace tidemark::source
