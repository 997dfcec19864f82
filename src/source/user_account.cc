#include "source/user_account.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "model/trace_builder.h"

namespace tidemark::source {

uint32_t UserAccount::find_kernel_stack(std::span<const uint64_t> addresses) {
  auto [at, is_new] =
      known_kernel_.try_emplace({addresses.begin(), addresses.end()},
                                static_cast<uint32_t>(kernel_stacks_.size()));
  if (!is_new) return at->second;
  KernelStack& stack = kernel_stacks_.emplace_back();
  stack.addresses = at->first;
  const auto is_interrupt = [this](uint64_t address) {
    return std::ranges::any_of(code_, [address](const MeantCode& code) {
      return code.meaning == CodeMeaning::Interrupt && address >= code.first &&
             address < code.last;
    });
  };
  stack.is_interrupt = std::ranges::any_of(addresses, is_interrupt);
  return at->second;
}

uint32_t UserAccount::find_stack(std::span<const uint32_t> user_frames,
                                 uint32_t kernel) {
  std::vector<uint32_t> key(user_frames.begin(), user_frames.end());
  key.push_back(kernel);
  auto [at, is_new] =
      known_.try_emplace(std::move(key), static_cast<uint32_t>(stacks_.size()));
  if (is_new) stacks_.push_back(&at->first);
  return at->second;
}

void UserAccount::take(const UserBlock& taken) {
  const uint32_t kernel = find_kernel_stack(taken.kernel_addresses);
  // It hit the process, and took for somebody else.
  if (kernel_stacks_[kernel].is_interrupt) return;
  const uint32_t stack = find_stack(taken.user_frames, kernel);
  pages_.alloc(taken.block, {stack, tasks_.find(taken.pid)}, taken.time_ns,
               taken.weight_shift);
  if (taken.weight_shift == 0) return;
  const double pages =
      std::ldexp(1.0, static_cast<int>(taken.weight_shift + taken.block.order));
  if (chances_.size() <= stack) chances_.resize(stack + 1);
  chances_[stack].pages += pages;
  chances_[stack].squares += pages * pages;
}

// How many pages one that is followed stands for, where it was a matter of
// chance. The sample is not as dense all the time: that of the stack whose
// pages came when it was rarest, so that errors told by it are bounds for all
// others. What is less than a hundredth of the whole has too few for that; and
// what is in no stack, since the sample had none of it, is in the mean of all.
uint64_t UserAccount::period() const {
  constexpr double kMany = 0.01;
  double all = 0;
  for (const Chance& chance : chances_)
    all += chance.pages;
  double period = 1;
  if (density_.pages > 0) {
    period = std::max(period, static_cast<double>(density_.weights) /
                                  static_cast<double>(density_.pages));
  }
  for (const Chance& chance : chances_) {
    if (chance.pages == 0 || chance.pages < all * kMany) continue;
    period = std::max(period, chance.squares / chance.pages);
  }
  return static_cast<uint64_t>(std::ceil(period));
}

std::vector<uint32_t> UserAccount::build_stacks(model::TraceBuilder& builder) {
  const uint32_t border =
      builder.frame({0, std::string(model::kKernelBorder), 0, {}, {}});
  std::vector<uint32_t> stack_of;
  stack_of.reserve(stacks_.size());
  for (const std::vector<uint32_t>* key : stacks_) {
    std::vector<uint32_t> indices;
    for (uint64_t address : kernel_stacks_[key->back()].addresses) {
      const model::TraceFrame frame = names_.at(address);
      if (indices.empty() && is_tracer(frame)) continue;
      indices.push_back(builder.frame(frame));
    }
    indices.push_back(border);
    for (size_t i = 0; i + 1 < key->size(); ++i) {
      for (const model::TraceFrame& frame : frames_.at((*key)[i]))
        indices.push_back(builder.frame(frame));
    }
    stack_of.push_back(builder.stack(indices));
  }
  return stack_of;
}

void UserAccount::learn_names(FrameNames::Patience patience,
                              const std::function<void()>& keep_up,
                              std::vector<std::string>& notes) {
  // First, since more stacks may come meanwhile.
  frames_.learn_names(keep_up);
  std::vector<uint64_t> addresses;
  for (const KernelStack& stack : kernel_stacks_) {
    addresses.insert(addresses.end(), stack.addresses.begin(),
                     stack.addresses.end());
  }
  names_.learn(roots_, addresses, patience, notes);
}

model::Trace UserAccount::read(uint64_t now_ns) {
  std::vector<bool> used_tasks;
  for (const PageAccount::Node& node : pages_.nodes()) {
    if (used_tasks.size() <= node.owner.task) {
      used_tasks.resize(node.owner.task + 1);
    }
    used_tasks[node.owner.task] = true;
  }
  model::TraceBuilder builder;
  const std::vector<uint32_t> stack_of = build_stacks(builder);
  const std::vector<uint32_t> task_of = tasks_.build(used_tasks, builder);
  pages_.build({stack_of, task_of}, now_ns, builder);
  model::Trace& head = builder.head();
  head.sample_period = period();
  head.user.emplace().images = frames_.images();
  head.user->naming_ns = frames_.naming_ns();
  return builder.finish();
}

}  // namespace tidemark::source
