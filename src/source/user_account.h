// Books a sample of pages to the code of programs that took them: what is still
// held, and what was held at the peak (PageAccount), with the stacks of the
// kernel below those of the programs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "source/page_account.h"
#include "source/roots.h"
#include "source/trace_stacks.h"
#include "source/trace_tasks.h"
#include "source/user_frames.h"

namespace tidemark::source {

// A block that was taken. Each of its pages stands for 2^weight_shift.
struct UserBlock {
  PageBlock block;
  uint32_t weight_shift = 0;
  int32_t pid = 0;
  uint64_t time_ns = 0;
  std::span<const uint64_t> kernel_addresses;  // the innermost first
  std::span<const uint32_t> user_frames;       // the same
};

// What is a matter of chance, in the sample or not: how many pages were taken,
// and the sum of for how many each stood then. Where a sample is rare it may
// have nothing of what was taken meanwhile.
struct SampleDensity {
  uint64_t pages = 0;
  uint64_t weights = 0;
};

class UserAccount {
 public:
  // The roots must outlive it.
  UserAccount(const Roots& roots, std::vector<MeantCode> code)
      : roots_(roots), code_(std::move(code)), tasks_(roots, all_) {}
  UserAccount(const UserAccount&) = delete;
  UserAccount& operator=(const UserAccount&) = delete;
  ~UserAccount() = default;

  UserFrames& frames() { return frames_; }
  TraceTasks& tasks() { return tasks_; }

  void take(const UserBlock& taken);
  void give(uint64_t first_frame, uint64_t bits) {
    pages_.free_each(first_frame, bits);
  }
  void look(uint64_t elapsed_ns) { pages_.look(elapsed_ns); }
  const PageAccount::Sum& sum() const { return pages_.machine(); }
  uint64_t peak_ns() const { return pages_.peak_ns(); }

  void see_density(const SampleDensity& density) { density_ = density; }

  // Before it is read. `keep_up` is as UserFrames::learn_names() has it.
  void learn_names(FrameNames::Patience patience,
                   const std::function<void()>& keep_up,
                   std::vector<std::string>& notes);
  // With all that does not depend on how it was told of.
  model::Trace read(uint64_t now_ns);

 private:
  struct KernelStack {
    std::vector<uint64_t> addresses;
    bool is_interrupt = false;
  };
  uint32_t find_kernel_stack(std::span<const uint64_t> addresses);
  uint32_t find_stack(std::span<const uint32_t> user_frames, uint32_t kernel);
  std::vector<uint32_t> build_stacks(model::TraceBuilder& builder);
  uint64_t period() const;

  const Roots& roots_;
  std::vector<MeantCode> code_;
  TraceFilter all_;
  UserFrames frames_;
  TraceTasks tasks_;
  PageAccount pages_ = PageAccount(1);
  FrameNames names_;
  std::vector<KernelStack> kernel_stacks_;
  std::map<std::vector<uint64_t>, uint32_t> known_kernel_;
  // Frames of the program, and behind them the number of the kernel's stack.
  std::vector<const std::vector<uint32_t>*> stacks_;
  std::map<std::vector<uint32_t>, uint32_t> known_;
  // Of blocks that were a matter of chance: the pages they stand for, and the
  // squares of those.
  struct Chance {
    double pages = 0;
    double squares = 0;
  };
  std::vector<Chance> chances_;  // for each stack
  SampleDensity density_;
};

}  // namespace tidemark::source
