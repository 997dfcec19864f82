// Keeps the books of a tree of processes: takes events and exit records of the
// whole machine and gives one life for every process of the tree. No I/O, so
// that every order of events can be tried without making it happen.
//
// What is hard is when a process has ended. Events are about threads, and the
// first thread may end long before the last; a thread that calls exec takes the
// first one's number and the first one ends instead, under either number. So
// threads are counted, not remembered: a process has ended when as many have
// ended as have begun.
//
// A record is sent before its thread's exit event, but over another socket. So
// records are shelved as they come and applied with the event. With a long
// backlog this keeps the record of a pid's first process from its second one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "model/run.h"
#include "parse/netlink_events.h"

namespace tidemark::source {

class ProcessLives {
 public:
  using Taker = std::function<void(model::ProcessLife)>;

  // A process found running at `time_ns` with that many threads is of the tree
  // from now on. Older events about it are skipped, as they are in that count
  // already; but one that tells of its very fork is better than what was found
  // and counts from there. For a process of the tree the count is put right.
  void add_running(model::ProcessLife life, uint64_t thread_count,
                   uint64_t time_ns);

  // `path` is that of the program after an Exec of a process of the tree; empty
  // when it could not be read any more.
  void apply(const parse::ProcessEvent& event, std::string path = {});

  // Keeps a record for the exit event that is to come.
  void shelve(parse::ExitRecord record);
  // Whether the record of an Exit is here. Where not it is to be read first,
  // also for processes that are none of the tree's.
  bool is_ready_for(const parse::ProcessEvent& exit) const;
  // To be called when all events have been applied that were sent before the
  // last shelved record: what belongs to nobody by now never will.
  void clear_shelf();

  // For one that is gone although no event said so.
  void end_unseen(int32_t pid, uint64_t time_ns);

  // Gives away, in the order of their end, those that have ended and whose
  // records have all come.
  void take_ended(const Taker& taker);
  // Those without records too.
  void take_all_ended(const Taker& taker);

  bool is_living(int32_t pid) const;
  std::vector<int32_t> living() const;
  std::vector<model::ProcessLife> living_lives() const;

 private:
  struct Member {
    model::ProcessLife life;
    uint64_t counted_since_ns = 0;
    uint64_t begun_thread_count = 1;
    uint64_t ended_thread_count = 0;
    uint64_t record_count = 0;
    // So many of its exits and records are of threads of images it has
    // replaced by exec.
    uint64_t earlier_thread_count = 0;
    bool has_last_record = false;
    bool has_ended = false;
    std::optional<int32_t> wait_status;      // as far as told
    std::optional<int32_t> recorded_status;  // of the first thread
  };

  Member* living_member(int32_t pid);
  void apply_fork(const parse::ProcessEvent& event);
  void apply_thread(const parse::ProcessEvent& event);
  void apply_exit(Member& member, const parse::ProcessEvent& event);
  size_t count_records_up_to(int32_t pid, int32_t thread_id) const;
  std::vector<parse::ExitRecord> take_records(int32_t pid, size_t count);
  void claim_records(Member& member, int32_t thread_id);
  void add_record(Member& member, const parse::ExitRecord& record);
  void learn_path(model::ProcessLife& life, const parse::ExitRecord& record);
  void end(Member& member, uint64_t time_ns,
           std::optional<int32_t> wait_status);
  void vacate(int32_t pid, uint64_t time_ns);

  static void apply_exec(Member& member, std::string path);
  static bool is_complete(const Member& member);

  std::unordered_map<int32_t, Member> members_;  // living, or without records
  std::vector<int32_t> ended_pids_;              // in the order of their end
  std::vector<model::ProcessLife> displaced_;    // their pid is used again
  // By the process they are about, in the order they came.
  std::unordered_map<int32_t, std::vector<parse::ExitRecord>> shelf_;
  // Records before version 12 do not name the process of a thread.
  std::unordered_map<int32_t, int32_t> pid_of_thread_;
  // Paths of programs already seen, by the file's device and inode and the
  // comm, for processes that ended before theirs was read. An inode may be
  // another file's later; that it then runs under the same name is unlikely.
  using ProgramFile = std::tuple<uint64_t, uint64_t, std::string>;
  std::map<ProgramFile, std::string> path_of_file_;
};

}  // namespace tidemark::source
