// follow_cost touch MIB TIMES PAIRS  map, touch page by page and unmap, TIMES
// follow_cost fork COUNT PAIRS       fork and exec /bin/true, one by one
//
// What it costs a process to be followed by TreeFollower, by the paired method:
// one worker does the same round over and over, and in each pair of rounds one
// is done with the BPF programs attached and one without, the order changing
// from pair to pair. Whole runs of a program with and without differ more by
// the luck of their pages than by what is measured here.
//
// The worker lives in a memory group of its own, so that the programs read its
// charge as they do in `tidemark run`. It times itself, which leaves attaching
// and detaching out, and counts the CPU of its children. The mark is out of
// reach: captures are the tool's own work, not the target's.
//
// Prints lines "NAME NS NS …" for followed_wall, followed_cpu, alone_wall and
// alone_cpu, the rounds in the order of their pairs. However it ends, the
// guardian removes the group and the worker ends with its pipe.
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/result.h"
#include "base/text.h"
#include "source/bpf/tree_follower.h"
#include "source/cgroups.h"
#include "source/roots.h"
#include "source/target/group_place.h"
#include "source/target/guardian.h"

namespace tidemark::bench {
namespace {

using base::ErrorKind;
using base::Result;
using base::Status;

constexpr uint64_t kFarMarkBytes = uint64_t{1} << 50;

struct Spent {
  uint64_t wall_ns = 0;
  uint64_t cpu_ns = 0;  // with all children waited for
};

// What one round is, and how much of it the programs must have seen: a round
// that was not followed would look cheap.
struct Job {
  std::function<bool()> go;
  uint64_t least_height_bytes = 0;
  uint64_t process_count = 1;
};

bool touch_once(size_t bytes) {
  constexpr size_t kPageBytes = 4096;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  volatile char* pages = static_cast<char*>(memory);
  for (size_t at = 0; at < bytes; at += kPageBytes)
    pages[at] = 1;
  return ::munmap(memory, bytes) == 0;
}

bool run_true() {
  const pid_t pid = ::fork();
  if (pid < 0) return false;
  if (pid == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return status == 0;
}

bool repeat(uint64_t times, const std::function<bool()>& go) {
  for (uint64_t i = 0; i < times; ++i) {
    if (!go()) return false;
  }
  return true;
}

Job touch_job(uint64_t mib, uint64_t times) {
  const size_t bytes = mib << 20;
  return {[=] { return repeat(times, [=] { return touch_once(bytes); }); },
          bytes, 1};
}

Job fork_job(uint64_t count) {
  return {[=] { return repeat(count, run_true); }, 1, count + 1};
}

uint64_t cpu_ns(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto ns = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 +
           static_cast<uint64_t>(t.tv_usec) * 1'000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

Spent spent_so_far() {
  return {base::monotonic_ns(), cpu_ns(RUSAGE_SELF) + cpu_ns(RUSAGE_CHILDREN)};
}

// A process that does a round each time it is told to.
class Worker {
 public:
  static Result<Worker> start(const Job& job);
  Worker(Worker&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)),
        orders_(std::move(other.orders_)),
        answers_(std::move(other.answers_)) {}
  Worker& operator=(Worker&&) = delete;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  pid_t pid() const { return pid_; }
  Result<Spent> round();

 private:
  Worker(pid_t pid, base::Fd orders, base::Fd answers)
      : pid_(pid), orders_(std::move(orders)), answers_(std::move(answers)) {}

  pid_t pid_ = 0;
  base::Fd orders_;
  base::Fd answers_;
};

// Keeps nothing of ours: with a copy of the guardian's line, or of the other
// end of its own, the death of the tool would go unnoticed.
[[noreturn]] void work(const Job& job, int orders, int answers) {
  ::dup2(orders, STDIN_FILENO);
  ::dup2(answers, STDOUT_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  char order = 0;
  while (::read(STDIN_FILENO, &order, 1) == 1) {
    const Spent before = spent_so_far();
    if (!job.go()) ::_exit(1);
    const Spent after = spent_so_far();
    const Spent spent{after.wall_ns - before.wall_ns,
                      after.cpu_ns - before.cpu_ns};
    if (::write(STDOUT_FILENO, &spent, sizeof spent) != sizeof spent) break;
  }
  ::_exit(0);
}

Result<Worker> Worker::start(const Job& job) {
  int down[2] = {-1, -1};
  int up[2] = {-1, -1};
  if (::pipe2(down, O_CLOEXEC) != 0) return base::fail_errno("pipe", errno);
  base::Fd order_reader(down[0]);
  base::Fd order_writer(down[1]);
  if (::pipe2(up, O_CLOEXEC) != 0) return base::fail_errno("pipe", errno);
  base::Fd answer_reader(up[0]);
  base::Fd answer_writer(up[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return base::fail_errno("fork", errno);
  if (pid == 0) work(job, order_reader.get(), answer_writer.get());
  return Worker(pid, std::move(order_writer), std::move(answer_reader));
}

Worker::~Worker() {
  if (pid_ == 0) return;
  orders_ = base::Fd();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<Spent> Worker::round() {
  const char order = 'r';
  Spent spent;
  if (::write(orders_.get(), &order, 1) != 1 ||
      ::read(answers_.get(), &spent, sizeof spent) != sizeof spent) {
    return base::fail(ErrorKind::Gone, "the worker has failed");
  }
  return spent;
}

// A group with the worker in it, undone with this object or by the guardian.
class Stage {
 public:
  static Result<Stage> set();
  Stage(Stage&& other) noexcept
      : guardian_(std::move(other.guardian_)),
        place_(std::exchange(other.place_, std::nullopt)) {}
  Stage& operator=(Stage&&) = delete;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    if (place_) static_cast<void>(source::undo_group(*place_));
  }

  Status enter(pid_t pid) const { return source::add_to_group(*place_, pid); }

 private:
  Stage(source::Guardian guardian, source::GroupPlace place)
      : guardian_(std::move(guardian)), place_(std::move(place)) {}

  source::Guardian guardian_;
  std::optional<source::GroupPlace> place_;
};

Result<Stage> Stage::set() {
  Result<source::Roots> roots = source::open_roots({});
  if (!roots) return roots.error();
  Result<source::GroupPlace> place =
      source::plan_memory_group(*roots, source::CgroupHierarchy::find(*roots));
  if (!place) return place.error();
  Result<source::Guardian> guardian =
      source::Guardian::start({{*place}, false});
  if (!guardian) return guardian.error();
  Status status = source::make_group(*place, {::getpid(), guardian->pid()});
  if (!status) return status.error();
  return Stage(std::move(*guardian), std::move(*place));
}

Status check_followed(source::TreeFollower& follower, const Job& job) {
  const source::Heights heights = follower.heights();
  if (heights.highest_bytes >= job.least_height_bytes &&
      heights.process_count == job.process_count && heights.lost_count == 0) {
    return base::Ok{};
  }
  return base::fail(ErrorKind::System,
                    "the round was not followed: height " +
                        std::to_string(heights.highest_bytes) + " of " +
                        std::to_string(job.least_height_bytes) +
                        " bytes, processes " +
                        std::to_string(heights.process_count) + " of " +
                        std::to_string(job.process_count) + ", lost " +
                        std::to_string(heights.lost_count));
}

Result<Spent> followed_round(Worker& worker, const Job& job) {
  source::FollowOptions options;
  options.height_is_charge = true;
  Result<source::TreeFollower> follower = source::TreeFollower::start(options);
  if (!follower) return follower.error();
  Status status = follower->adopt({worker.pid()});
  if (!status) return status.error();
  follower->set_mark(kFarMarkBytes);
  Result<Spent> spent = worker.round();
  if (!spent) return spent;
  status = check_followed(*follower, job);
  if (!status) return status.error();
  return spent;
}

void print_rounds(const char* name, const std::vector<Spent>& rounds) {
  for (const auto& [unit, field] :
       {std::pair("wall", &Spent::wall_ns), std::pair("cpu", &Spent::cpu_ns)}) {
    std::printf("%s_%s", name, unit);
    for (const Spent& round : rounds) {
      std::printf(" %llu", static_cast<unsigned long long>(round.*field));
    }
    std::printf("\n");
  }
}

// The first pair warms up and is not kept.
Status time_pairs(const Job& job, uint64_t pairs) {
  Result<Stage> stage = Stage::set();
  if (!stage) return stage.error();
  Result<Worker> worker = Worker::start(job);
  if (!worker) return worker.error();
  Status status = stage->enter(worker->pid());
  if (!status) return status;
  std::vector<Spent> followed;
  std::vector<Spent> alone;
  for (uint64_t pair = 0; pair <= pairs; ++pair) {
    for (const bool is_second : {false, true}) {
      const bool is_followed = (pair % 2 == 0) == is_second;
      Result<Spent> spent =
          is_followed ? followed_round(*worker, job) : worker->round();
      if (!spent) return spent.error();
      if (pair > 0) (is_followed ? followed : alone).push_back(*spent);
    }
  }
  print_rounds("followed", followed);
  print_rounds("alone", alone);
  return base::Ok{};
}

int run(const std::vector<std::string>& words) {
  std::vector<uint64_t> numbers;
  for (size_t i = 2; i < words.size(); ++i) {
    const std::optional<uint64_t> number = base::parse_u64(words[i]);
    if (number && *number > 0) numbers.push_back(*number);
  }
  std::optional<Job> job;
  if (words.size() == 5 && words[1] == "touch" && numbers.size() == 3) {
    job = touch_job(numbers[0], numbers[1]);
  } else if (words.size() == 4 && words[1] == "fork" && numbers.size() == 2) {
    job = fork_job(numbers[0]);
  }
  if (!job) {
    std::fprintf(stderr,
                 "usage: follow_cost touch MIB TIMES PAIRS\n"
                 "       follow_cost fork COUNT PAIRS\n");
    return 2;
  }
  const Status status = time_pairs(*job, numbers.back());
  if (status) return 0;
  std::fprintf(stderr, "follow_cost: %s\n", status.error().what.c_str());
  return 1;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  return tidemark::bench::run(std::vector<std::string>(argv, argv + argc));
}
