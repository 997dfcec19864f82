// The code that the processes of a tree run, each at the time it is asked for:
// they fork, execute programs and load libraries, and what is asked for is a
// moment ago.
//
// Where the kernel tells of each file that is mapped as code (MappedCode), it
// is known what has changed since, and what a process had that has ended. It
// then finds the name of each file that anybody maps, which is 1.8 % of a shell
// that starts programs and not among those that are followed. So it is asked
// while programs are started here, and some time longer: they are mostly short.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "source/mapped_code.h"
#include "source/roots.h"
#include "source/user_frames.h"
#include "source/user_unwinder.h"

namespace tidemark::source {

class UserSpaces {
 public:
  // All must outlive it.
  UserSpaces(const Roots& roots, UserFrames& frames,
             std::vector<std::string>& notes)
      : roots_(roots), frames_(frames), notes_(notes) {}
  UserSpaces(const UserSpaces&) = delete;
  UserSpaces& operator=(const UserSpaces&) = delete;
  ~UserSpaces() = default;

  // A tree as it is; what becomes of it is told by the calls below, in order of
  // time.
  void follow(int32_t root_pid, const std::vector<int32_t>& pids);
  void forked(int32_t pid, int32_t parent_pid);
  void executed(int32_t pid);
  void exited(int32_t pid);

  // Takes what the kernel has told meanwhile.
  void drain();
  // When all that came before has been unwound: asks the kernel no longer, if
  // no program has been started for a while.
  void rest();
  // Empty: the process ended before anything was known of its code.
  std::optional<UserStack> unwind(int32_t pid, uint64_t time_ns,
                                  const UserDump& dump);
  uint64_t kernel_bytes() const { return code_ ? code_->kernel_bytes() : 0; }

 private:
  struct Process {
    std::shared_ptr<UserSpace> space;
    // Whose code it has until it executes a program; 0: nobody's. Its own may
    // be that program's by the time it is read.
    int32_t parent_pid = 0;
    uint64_t next_reading_ns = 0;
    uint64_t pause_ns = 0;
    bool is_gone = false;   // it has ended, or executed another program
    size_t told_count = 0;  // mappings that were told of when it was made
    size_t read_count = 0;  // the same when it was last read
  };

  void follow_code();
  std::vector<int32_t> thread_ids() const;
  std::optional<UserStack> unwind_in(int32_t owner, uint64_t time_ns,
                                     const UserDump& dump);
  int32_t owner_of(int32_t pid) const;
  void leave_to_children(int32_t pid);
  bool has_moved_on(int32_t pid, uint64_t time_ns);
  bool look_again(int32_t pid, uint64_t time_ns, Process& process);
  bool read(int32_t pid, Process& process);
  bool recall(int32_t pid, uint64_t time_ns, Process& process);

  const Roots& roots_;
  UserFrames& frames_;
  std::vector<std::string>& notes_;
  int32_t root_pid_ = 0;
  std::unordered_map<int32_t, Process> processes_;
  std::unique_ptr<MappedCode> code_;  // null: it is not followed
  bool can_follow_ = true;
  uint64_t last_start_ns_ = 0;  // of a program
};

}  // namespace tidemark::source
