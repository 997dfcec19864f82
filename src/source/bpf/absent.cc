// Stands for the files beside it in a build without BPF (TIDEMARK_BPF=OFF).
#include "source/bpf/object_lists.h"
#include "source/bpf/page_structs.h"
#include "source/bpf/slab_tracer.h"
#include "source/bpf/tree_follower.h"
#include "source/live_trace.h"

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

base::Result<ObjectLists> ObjectLists::read() {
  return base::fail(base::ErrorKind::Unsupported,
                    "this tidemark was built without BPF");
}
bool ObjectLists::descriptors_of(
    int32_t, const std::function<void(const KernelDescriptor&)>&) const {
  return false;
}
bool ObjectLists::mappings_of(
    int32_t, const std::function<void(const KernelMapping&)>&) const {
  return false;
}

std::unordered_set<uint64_t> ObjectLists::page_owners() const {
  return {};
}

struct PageStructs::State {};

base::Result<PageStructs> PageStructs::open() {
  return base::fail(base::ErrorKind::Unsupported,
                    "this tidemark was built without BPF");
}

PageStructs::PageStructs(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
PageStructs::PageStructs(PageStructs&&) noexcept = default;
PageStructs& PageStructs::operator=(PageStructs&&) noexcept = default;
PageStructs::~PageStructs() = default;

base::Status PageStructs::read(uint64_t, std::span<const uint64_t>,
                               std::span<model::PageStruct>) {
  return base::Ok{};
}
base::Status PageStructs::copy(uint64_t, uint64_t) {
  return base::Ok{};
}
base::Result<std::vector<model::CachedFile>> PageStructs::name_files(
    std::span<const uint64_t>) {
  return std::vector<model::CachedFile>();
}
base::Result<std::vector<model::SlabCacheName>> PageStructs::name_caches(
    const std::vector<uint64_t>&) {
  return std::vector<model::SlabCacheName>();
}
base::Result<std::vector<model::KernelStack>> PageStructs::kernel_stacks() {
  return std::vector<model::KernelStack>();
}

struct SlabTracer::State {};

base::Result<SlabTracer> SlabTracer::prepare(const TraceFilter&) {
  return base::fail(base::ErrorKind::Unsupported,
                    "this tidemark was built without BPF");
}

SlabTracer::SlabTracer(std::unique_ptr<State> state)
    : state_(std::move(state)) {}
SlabTracer::SlabTracer(SlabTracer&&) noexcept = default;
SlabTracer& SlabTracer::operator=(SlabTracer&&) noexcept = default;
SlabTracer::~SlabTracer() = default;

void SlabTracer::go() {}
void SlabTracer::freeze() {}
model::SlabTrace SlabTracer::read(const Roots&) const {
  return {};
}

LiveTraceResult prepare_user_trace(const Roots&, const TraceOptions&) {
  return base::fail(base::ErrorKind::Unsupported,
                    "this tidemark was built without BPF");
}

LiveTraceResult prepare_bpf_trace(const Roots&, const TraceOptions&) {
  return base::fail(base::ErrorKind::Unsupported,
                    "this tidemark was built without BPF");
}

}  // namespace tidemark::source
