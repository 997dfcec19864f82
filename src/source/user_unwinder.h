// Unwinds stacks of programs, from copies of registers and stack that the
// kernel made (bpf/user.bpf.c).
//
// Debian's programs have no frame pointers, so the way is told by what
// compilers leave for exceptions (.eh_frame), which libdwfl reads. Nothing of a
// process is read but the list of its mappings, and the files mapped as code;
// these are opened through the mapping itself (map_files), whatever stands at
// their names by now; or by their names where the process has ended. The memory
// of the process is never read, nor is it stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/mapping.h"
#include "source/roots.h"
#include "source/user_frames.h"

namespace tidemark::source {

// The state of a thread as it entered the kernel.
struct UserDump {
  int32_t thread_id = 0;
  std::span<const uint64_t> registers;  // struct pt_regs of x86-64
  std::span<const uint8_t> stack;       // from the stack pointer on
};

struct UserStack {
  std::vector<uint32_t> frames;  // of UserFrames, the innermost first
  bool is_whole = false;         // it begins where the thread does
  // Some of it lies where nothing is known to be mapped.
  bool has_strangers = false;
  size_t used_bytes = 0;  // of the dump
};

// A process that has ended: what it had mapped as code, in order, and another
// that sees the same files.
struct EndedSpace {
  int32_t pid = 0;
  int32_t root_pid = 0;
  std::vector<model::Mapping> code;
};

// The code of one address space, as it was mapped at one time.
class UserSpace {
 public:
  // `frames` must outlive it. Null where it has the same code mapped as
  // `known`, which may be null. Gone where the process is.
  static base::Result<std::unique_ptr<UserSpace>> read(const Roots& roots,
                                                       int32_t pid,
                                                       UserFrames& frames,
                                                       const UserSpace* known);
  static base::Result<std::unique_ptr<UserSpace>> of_ended(
      const Roots& roots, const EndedSpace& ended, UserFrames& frames);
  UserSpace(const UserSpace&) = delete;
  UserSpace& operator=(const UserSpace&) = delete;
  ~UserSpace();

  UserStack unwind(const UserDump& dump);

 private:
  struct State;
  explicit UserSpace(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tidemark::source
