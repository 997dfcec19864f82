#include "source/netlink/process_lives.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <utility>

#include "base/text.h"

namespace tidemark::source {
namespace {

using model::ProcessLife;
using parse::ExitRecord;
using parse::ProcessEvent;
using parse::ProcessEventKind;

// As the kernel cuts it (TASK_COMM_LEN with its NUL).
constexpr size_t kCommBytes = 15;

void raise(std::optional<uint64_t>& highest, std::optional<uint64_t> bytes) {
  // 0 is no memory at all, which no program runs in.
  if (bytes && *bytes > highest.value_or(0)) highest = bytes;
}

// The status of a process from those of its threads. exit_group() and fatal
// signals give theirs to every thread they end; threads that ended before left
// their own, which is 0 but for the first thread's, and may be told later,
// since pthread_join() does not wait for that. Who has dumped core says so,
// others ended by the same signal do not.
void merge_status(std::optional<int32_t>& status, int32_t of_thread,
                  bool is_first_thread) {
  constexpr int32_t kCoreDumped = 0x80;
  if (status && ((*status ^ of_thread) & ~kCoreDumped) == 0) {
    status = *status | of_thread;
  } else if (!status || *status == 0 || (is_first_thread && of_thread != 0)) {
    status = of_thread;
  }
}

}  // namespace

void ProcessLives::add_running(ProcessLife life, uint64_t thread_count,
                               uint64_t time_ns) {
  const int32_t pid = life.pid;
  Member* member = living_member(pid);
  if (!member) {
    vacate(pid, time_ns);
    life.peak_source = model::PeakSource::HighMark;
    member = &members_[pid];
    member->life = std::move(life);
  } else {
    // There may have been an exec that was not told.
    member->life.comm = std::move(life.comm);
    if (!life.path.empty()) member->life.path = std::move(life.path);
  }
  member->counted_since_ns = time_ns;
  member->begun_thread_count = thread_count + member->ended_thread_count;
  member->earlier_thread_count =
      std::min(member->earlier_thread_count, member->ended_thread_count);
}

void ProcessLives::apply(const ProcessEvent& event, std::string path) {
  if (event.kind == ProcessEventKind::Answer) return;
  if (event.kind == ProcessEventKind::Fork) {
    if (event.thread_id == event.pid) return apply_fork(event);
    return apply_thread(event);
  }
  Member* member = living_member(event.pid);
  if (!member || event.time_ns < member->counted_since_ns) {
    if (event.kind != ProcessEventKind::Exit) return;
    // Its records must not wait for the next process with that pid.
    (void)take_records(event.pid,
                       count_records_up_to(event.pid, event.thread_id));
    return;
  }
  if (event.kind == ProcessEventKind::Exec) {
    apply_exec(*member, std::move(path));
  } else if (event.kind == ProcessEventKind::Exit) {
    apply_exit(*member, event);
  } else if (event.thread_id == event.pid) {
    member->life.comm = event.comm;
  }
}

void ProcessLives::apply_fork(const ProcessEvent& event) {
  Member* known = living_member(event.pid);
  if (known && event.time_ns <= known->counted_since_ns) {
    // We were told to follow it after it was forked and before we read of it.
    known->life.parent_pid = event.parent_pid;
    known->life.started_ns = event.time_ns;
    known->counted_since_ns = event.time_ns;
    known->begun_thread_count = 1;
    known->ended_thread_count = 0;
    return;
  }
  vacate(event.pid, event.time_ns);
  const Member* parent = living_member(event.parent_pid);
  if (!parent || event.time_ns < parent->counted_since_ns) return;
  Member child;
  child.life.pid = event.pid;
  child.life.parent_pid = event.parent_pid;
  child.life.comm = parent->life.comm;
  child.life.path = parent->life.path;
  child.life.started_ns = event.time_ns;
  child.life.peak_source = model::PeakSource::HighMark;
  child.counted_since_ns = event.time_ns;
  members_.emplace(event.pid, std::move(child));
}

void ProcessLives::apply_thread(const ProcessEvent& event) {
  Member* member = living_member(event.pid);
  if (!member || event.time_ns < member->counted_since_ns) return;
  ++member->begun_thread_count;
  pid_of_thread_[event.thread_id] = event.pid;
}

// All threads but one have ended for it, and their records (some may still be
// on their way) are about the image that is no more.
void ProcessLives::apply_exec(Member& member, std::string path) {
  ProcessLife& life = member.life;
  raise(life.earlier_peak_rss_bytes, life.peak_rss_bytes);
  life.peak_rss_bytes.reset();
  member.earlier_thread_count = member.begun_thread_count - 1;
  member.wait_status.reset();
  life.has_execed = true;
  // What the kernel calls it comes with its record; a script's name is not
  // that of its interpreter.
  if (!path.empty()) {
    life.comm = std::string(base::base_name(path).substr(0, kCommBytes));
  }
  life.path = std::move(path);
}

void ProcessLives::apply_exit(Member& member, const ProcessEvent& event) {
  claim_records(member, event.thread_id);
  const bool is_of_this_image =
      member.ended_thread_count >= member.earlier_thread_count;
  ++member.ended_thread_count;
  if (is_of_this_image) {
    merge_status(member.wait_status, event.wait_status,
                 event.thread_id == event.pid);
  }
  if (member.ended_thread_count < member.begun_thread_count) return;
  end(member, event.time_ns, member.wait_status);
}

void ProcessLives::shelve(ExitRecord record) {
  int32_t pid = record.pid.value_or(record.thread_id);
  if (auto thread = pid_of_thread_.find(record.thread_id);
      thread != pid_of_thread_.end()) {
    if (!record.pid) pid = thread->second;
    pid_of_thread_.erase(thread);
  }
  shelf_[pid].push_back(std::move(record));
}

bool ProcessLives::is_ready_for(const ProcessEvent& exit) const {
  auto member = members_.find(exit.pid);
  if (member != members_.end() && member->second.has_last_record) return true;
  return count_records_up_to(exit.pid, exit.thread_id) > 0;
}

// How many on the shelf are to be taken with the exit of this thread: up to its
// own, as later ones are of threads that live on or of the next process with
// that pid. 0 when its own is not there.
size_t ProcessLives::count_records_up_to(int32_t pid, int32_t thread_id) const {
  auto found = shelf_.find(pid);
  if (found == shelf_.end()) return 0;
  auto own = std::ranges::find_if(found->second, [&](const ExitRecord& record) {
    return record.thread_id == thread_id || record.is_last_thread;
  });
  if (own == found->second.end()) return 0;
  return static_cast<size_t>(own - found->second.begin()) + 1;
}

std::vector<ExitRecord> ProcessLives::take_records(int32_t pid, size_t count) {
  std::vector<ExitRecord> taken;
  auto found = shelf_.find(pid);
  if (found == shelf_.end() || count == 0) return taken;
  std::vector<ExitRecord>& rest = found->second;
  const auto end =
      rest.begin() + static_cast<std::ptrdiff_t>(std::min(count, rest.size()));
  taken.assign(std::make_move_iterator(rest.begin()),
               std::make_move_iterator(end));
  rest.erase(rest.begin(), end);
  if (rest.empty()) shelf_.erase(found);
  return taken;
}

// A first thread may have ended under another number than its record has (see
// the header); then all are taken.
void ProcessLives::claim_records(Member& member, int32_t thread_id) {
  if (member.has_last_record) return;
  const int32_t pid = member.life.pid;
  size_t count = count_records_up_to(pid, thread_id);
  if (count == 0) count = std::numeric_limits<size_t>::max();
  for (const ExitRecord& record : take_records(pid, count))
    add_record(member, record);
}

void ProcessLives::clear_shelf() {
  std::erase_if(shelf_,
                [this](const auto& entry) { return !is_living(entry.first); });
}

void ProcessLives::add_record(Member& member, const ExitRecord& record) {
  ProcessLife& life = member.life;
  const bool is_earlier = member.record_count < member.earlier_thread_count &&
                          !record.is_last_thread;
  ++member.record_count;
  raise(is_earlier ? life.earlier_peak_rss_bytes : life.peak_rss_bytes,
        record.hiwater_rss_bytes);
  if (record.is_last_thread) member.has_last_record = true;
  if (record.thread_id != life.pid || is_earlier) return;
  life.comm = record.comm;
  if (!record.has_not_execed) life.has_execed = true;
  member.recorded_status = record.wait_status;
  learn_path(life, record);
}

// Half of the processes that live for a millisecond are gone when their exec is
// read of; most of them run what others ran before.
void ProcessLives::learn_path(ProcessLife& life, const ExitRecord& record) {
  if (!record.exe_device_id || !record.exe_inode_id || !life.has_execed) return;
  std::string& known =
      path_of_file_[{*record.exe_device_id, *record.exe_inode_id, record.comm}];
  if (!life.path.empty()) {
    known = life.path;
  } else {
    life.path = known;
  }
}

void ProcessLives::end(Member& member, uint64_t time_ns,
                       std::optional<int32_t> wait_status) {
  member.life.ended_ns = time_ns;
  member.life.wait_status = wait_status;
  member.has_ended = true;
  ended_pids_.push_back(member.life.pid);
}

void ProcessLives::end_unseen(int32_t pid, uint64_t time_ns) {
  Member* member = living_member(pid);
  if (!member) return;
  claim_records(*member, pid);
  end(*member, time_ns, member->recorded_status);
}

// The pid is about to be another process's: what had it has ended.
void ProcessLives::vacate(int32_t pid, uint64_t time_ns) {
  auto found = members_.find(pid);
  if (found == members_.end()) return;
  if (!found->second.has_ended) end_unseen(pid, time_ns);
  displaced_.push_back(std::move(found->second.life));
  std::erase(ended_pids_, pid);
  members_.erase(found);
}

// Either sign is enough: the last thread's word exists since version 12 only,
// and a lost record of an early thread makes the count fall short.
bool ProcessLives::is_complete(const Member& member) {
  return member.has_last_record ||
         (member.record_count > 0 &&
          member.record_count >= member.ended_thread_count);
}

void ProcessLives::take_ended(const Taker& taker) {
  for (ProcessLife& life : std::exchange(displaced_, {})) {
    taker(std::move(life));
  }
  std::vector<int32_t> waiting;
  for (int32_t pid : std::exchange(ended_pids_, {})) {
    auto found = members_.find(pid);
    if (!is_complete(found->second)) {
      waiting.push_back(pid);
      continue;
    }
    ProcessLife life = std::move(found->second.life);
    members_.erase(found);
    taker(std::move(life));
  }
  ended_pids_ = std::move(waiting);
}

void ProcessLives::take_all_ended(const Taker& taker) {
  take_ended(taker);
  for (int32_t pid : std::exchange(ended_pids_, {})) {
    auto found = members_.find(pid);
    ProcessLife life = std::move(found->second.life);
    members_.erase(found);
    taker(std::move(life));
  }
}

ProcessLives::Member* ProcessLives::living_member(int32_t pid) {
  auto found = members_.find(pid);
  if (found == members_.end() || found->second.has_ended) return nullptr;
  return &found->second;
}

bool ProcessLives::is_living(int32_t pid) const {
  auto found = members_.find(pid);
  return found != members_.end() && !found->second.has_ended;
}

std::vector<int32_t> ProcessLives::living() const {
  std::vector<int32_t> pids;
  for (const auto& [pid, member] : members_) {
    if (!member.has_ended) pids.push_back(pid);
  }
  std::ranges::sort(pids);
  return pids;
}

std::vector<ProcessLife> ProcessLives::living_lives() const {
  std::vector<ProcessLife> lives;
  for (int32_t pid : living()) {
    lives.push_back(members_.at(pid).life);
  }
  return lives;
}

}  // namespace tidemark::source
