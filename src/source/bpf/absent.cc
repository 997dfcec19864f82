// Stands for the files beside it in a build without BPF (TIDEMARK_BPF=OFF).
#include "source/bpf/tree_follower.h"

namespace tidemark::source {

struct TreeFollower::State {};

base::Result<TreeFollower> TreeFollower::start(const FollowOptions&) {
  return base::fail(base::ErrorKind::Unsupported,
                    "this tidemark was built without BPF");
}

TreeFollower::TreeFollower(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
TreeFollower::TreeFollower(TreeFollower&&) noexcept = default;
TreeFollower& TreeFollower::operator=(TreeFollower&&) noexcept = default;
TreeFollower::~TreeFollower() = default;

void TreeFollower::adopt_next_child() {}
base::Status TreeFollower::adopt(const std::vector<int32_t>&) {
  return base::Ok{};
}
int TreeFollower::wake_fd() const {
  return -1;
}
void TreeFollower::drain(const std::function<void(const NewHigh&)>&,
                         const std::function<void(model::ProcessLife)>&) {}
void TreeFollower::set_mark(uint64_t) {}
void TreeFollower::set_step_permille(uint64_t) {}
Heights TreeFollower::heights() const {
  return {};
}
std::vector<LivingProcess> TreeFollower::living() const {
  return {};
}
uint64_t TreeFollower::peak_error_bytes() const {
  return 0;
}
std::optional<uint64_t> TreeFollower::program_ns() const {
  return std::nullopt;
}

}  // namespace tidemark::source
