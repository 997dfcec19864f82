#include "model/vm.h"

namespace tidemark::model {
namespace {

struct VmKindWords {
  std::string_view name;
  std::string_view token;
};
constexpr std::array<VmKindWords, 5> kVmKinds = {{
    {"QEMU", "qemu"},
    {"crosvm", "crosvm"},
    {"Firecracker", "firecracker"},
    {"Cloud Hypervisor", "cloud_hypervisor"},
    {"KVM", "other"},
}};

// Releases carry their version and machine behind the name:
// firecracker-v1.13.1-x86_64, cloud-hypervisor-static. Other programs do too:
// firecracker-containerd.
bool is_release_of(std::string_view program, std::string_view name) {
  if (!program.starts_with(name)) return false;
  program.remove_prefix(name.size());
  return program.empty() || program.starts_with("-v") ||
         program.starts_with("-static");
}

}  // namespace

std::string_view vm_kind_name(VmKind kind) {
  return kVmKinds[static_cast<size_t>(kind)].name;
}

std::string_view vm_kind_token(VmKind kind) {
  return kVmKinds[static_cast<size_t>(kind)].token;
}

VmKind vm_kind_of_program(std::string_view program) {
  if (program.starts_with("qemu-system-") || program == "qemu-kvm") {
    return VmKind::Qemu;
  }
  if (program == "crosvm") return VmKind::Crosvm;
  if (is_release_of(program, "firecracker")) return VmKind::Firecracker;
  if (is_release_of(program, "cloud-hypervisor")) {
    return VmKind::CloudHypervisor;
  }
  return VmKind::Other;
}

std::string_view ram_means_token(RamMeans means) {
  constexpr std::array<std::string_view, 6> kTokens = {
      "name", "ramblock", "size", "largest", "none", "shared"};
  return kTokens[static_cast<size_t>(means)];
}

std::string_view resident_means_token(ResidentMeans means) {
  return means == ResidentMeans::Blocks ? "st_blocks" : "smaps";
}

std::string_view vm_role_token(VmRole role) {
  constexpr std::array<std::string_view, 3> kTokens = {"monitor", "child",
                                                       "sharer"};
  return kTokens[static_cast<size_t>(role)];
}

std::string_view guest_state_token(GuestState state) {
  constexpr std::array<std::string_view, 8> kTokens = {
      "told",       "not_asked", "unreachable", "busy",
      "no_balloon", "off",       "silent",      "failed"};
  return kTokens[static_cast<size_t>(state)];
}

}  // namespace tidemark::model
