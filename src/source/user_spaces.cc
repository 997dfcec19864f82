#include "source/user_spaces.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "source/descriptor_limit.h"
#include "source/process_parts.h"

namespace tidemark::source {

void UserSpaces::follow(int32_t root_pid, const std::vector<int32_t>& pids) {
  // Files of code stay open, those of each process while it lives: a browser
  // has thousands.
  constexpr size_t kManyFiles = 16384;
  allow_descriptors(kManyFiles);
  root_pid_ = root_pid;
  for (int32_t pid : pids)
    read(pid, processes_[pid]);
  last_start_ns_ = base::monotonic_ns();
  follow_code();
}

void UserSpaces::forked(int32_t pid, int32_t parent_pid) {
  Process& process = processes_[pid] = {};
  process.parent_pid = owner_of(parent_pid);
}

void UserSpaces::executed(int32_t pid) {
  leave_to_children(pid);
  Process& process = processes_[pid] = {};
  last_start_ns_ = base::monotonic_ns();
  // Otherwise when there is a stack of it; most programs are too short.
  if (code_) return;
  read(pid, process);
  // What is started by itself is over before the kernel has begun to tell, some
  // milliseconds later; what follows it is not.
  follow_code();
}

void UserSpaces::exited(int32_t pid) {
  leave_to_children(pid);
  processes_.erase(pid);
  if (code_) code_->forget(pid);
}

void UserSpaces::drain() {
  if (code_) code_->drain();
}

void UserSpaces::rest() {
  constexpr uint64_t kQuietNs = 2'000'000'000;
  if (!code_ || base::monotonic_ns() - last_start_ns_ < kQuietNs) return;
  code_.reset();
  for (auto& [pid, process] : processes_)
    process.told_count = process.read_count = 0;
}

std::vector<int32_t> UserSpaces::thread_ids() const {
  std::vector<int32_t> ids;
  for (const auto& [pid, known] : processes_) {
    base::Result<base::Directory> process =
        base::open_directory_at(roots_.proc, std::to_string(pid));
    if (!process) continue;
    base::Result<std::vector<model::Thread>> threads =
        read_threads(*process, false);
    if (!threads) continue;
    for (const model::Thread& thread : *threads)
      ids.push_back(thread.thread_id);
  }
  return ids;
}

// Without it stacks of processes that end at once have no names.
void UserSpaces::follow_code() {
  // Each has a ring on each CPU.
  constexpr size_t kMostRings = 1024;
  if (!can_follow_) return;
  const std::vector<int32_t> ids = thread_ids();
  const size_t ring_count =
      ids.size() * static_cast<size_t>(::sysconf(_SC_NPROCESSORS_CONF));
  std::string why = "too many threads are followed";
  if (ring_count <= kMostRings) {
    base::Result<std::unique_ptr<MappedCode>> code = MappedCode::follow(ids);
    if (code) {
      code_ = std::move(*code);
      return;
    }
    why = code.error().what;
  }
  can_follow_ = false;
  notes_.push_back(
      "code of processes that end within milliseconds is not known: " + why);
}

// By what the kernel told when it was mapped; false when that is nothing new.
bool UserSpaces::recall(int32_t pid, uint64_t time_ns, Process& process) {
  if (!code_) return false;
  code_->drain();
  EndedSpace ended = {pid, root_pid_, code_->code_of(pid, time_ns)};
  if (ended.code.size() <= process.told_count) return false;
  process.told_count = ended.code.size();
  base::Result<std::unique_ptr<UserSpace>> space =
      UserSpace::of_ended(roots_, ended, frames_);
  if (!space) return false;
  process.space = std::move(*space);
  return true;
}

bool UserSpaces::read(int32_t pid, Process& process) {
  base::Result<std::unique_ptr<UserSpace>> space =
      UserSpace::read(roots_, pid, frames_, process.space.get());
  process.is_gone = !space;
  if (!space || !*space) return false;
  process.space = std::move(*space);
  return true;
}

int32_t UserSpaces::owner_of(int32_t pid) const {
  const auto found = processes_.find(pid);
  const bool has_another =
      found != processes_.end() && found->second.parent_pid != 0;
  return has_another ? found->second.parent_pid : pid;
}

// Children that have its code keep what is known of it.
void UserSpaces::leave_to_children(int32_t pid) {
  const auto own = processes_.find(pid);
  if (own == processes_.end()) return;
  for (auto& [child_pid, child] : processes_) {
    if (child.parent_pid != pid) continue;
    child = own->second;
  }
}

// It has executed another program since then.
bool UserSpaces::has_moved_on(int32_t pid, uint64_t time_ns) {
  if (!code_) return false;
  code_->drain();
  return code_->has_executed_since(pid, time_ns);
}

// What is mapped may have changed since it was read. That is not asked again
// and again where code lies outside of all files; but at once when libraries of
// a program that has just begun were told of.
bool UserSpaces::look_again(int32_t pid, uint64_t time_ns, Process& process) {
  constexpr uint64_t kFirstPauseNs = 5'000'000;
  constexpr uint64_t kLongestPauseNs = 1'000'000'000;
  constexpr size_t kMostAtOnce = 64;
  if (has_moved_on(pid, time_ns)) {
    process.is_gone = true;
    return false;
  }
  const uint64_t now = base::monotonic_ns();
  const size_t told_count = code_ ? code_->mapped_count(pid) : 0;
  const bool has_news =
      told_count > process.read_count && told_count <= kMostAtOnce;
  if (now < process.next_reading_ns && !has_news) return false;
  process.read_count = told_count;
  process.pause_ns =
      std::clamp(process.pause_ns * 2, kFirstPauseNs, kLongestPauseNs);
  process.next_reading_ns = now + process.pause_ns;
  const bool is_new = read(pid, process);
  process.is_gone |= has_moved_on(pid, time_ns);  // while it was read
  return is_new;
}

std::optional<UserStack> UserSpaces::unwind_in(int32_t owner, uint64_t time_ns,
                                               const UserDump& dump) {
  Process& process = processes_[owner];
  UserStack stack;
  if (process.space) stack = process.space->unwind(dump);
  // Of one that lives more is known by looking at it: names of code that is
  // made at run time, and what it had before it was followed.
  if ((!process.space || stack.has_strangers || !stack.is_whole) &&
      look_again(owner, time_ns, process)) {
    stack = process.space->unwind(dump);
  }
  if (process.is_gone && (!process.space || stack.has_strangers) &&
      recall(owner, time_ns, process)) {
    stack = process.space->unwind(dump);
  }
  if (!process.space) return std::nullopt;
  return stack;
}

std::optional<UserStack> UserSpaces::unwind(int32_t pid, uint64_t time_ns,
                                            const UserDump& dump) {
  const int32_t owner = owner_of(pid);
  std::optional<UserStack> stack = unwind_in(owner, time_ns, dump);
  if (owner == pid || (stack && !stack->has_strangers)) return stack;
  // A child that has loaded more than its parent, not another program.
  Process& process = processes_[pid];
  if (look_again(pid, time_ns, process) && !process.is_gone) {
    process.parent_pid = 0;
    stack = process.space->unwind(dump);
  }
  return stack;
}

}  // namespace tidemark::source
