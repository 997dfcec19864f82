// What this machine lets us measure: the answers of the probes behind
// `tidemark doctor`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::model {

// What a probe needs to succeed. Each tier is useful without the ones after it.
enum class Tier : uint8_t {
  None,    // any user
  Ptrace,  // the right to look into other users' processes: ptrace, perfmon
  Root,    // physical pages and the kernel's own tables
  Bpf,     // programs in the kernel
};
inline constexpr Tier kTiers[] = {Tier::None, Tier::Ptrace, Tier::Root,
                                  Tier::Bpf};

constexpr std::string_view tier_name(Tier tier) {
  constexpr std::string_view kNames[] = {"none", "ptrace", "root", "bpf"};
  return kNames[static_cast<size_t>(tier)];
}

enum class CapabilityState : uint8_t {
  Works,     // it was tried and gave an answer
  Missing,   // this kernel, or what is mounted here, does not have it
  Denied,    // it is there and was refused
  NotTried,  // nothing here to try it on; `detail` says why
};

constexpr std::string_view capability_state_name(CapabilityState state) {
  constexpr std::string_view kNames[] = {"works", "missing", "denied",
                                         "not tried"};
  return kNames[static_cast<size_t>(state)];
}

struct Capability {
  std::string name;   // stable token: "smaps_of_others"
  std::string gives;  // what it is good for, in a few words
  Tier tier = Tier::None;
  CapabilityState state = CapabilityState::NotTried;
  std::string detail;  // what was seen: path, value, error text
  // Kernel capabilities that allow it, without "cap_": "sys_ptrace". All of
  // them together; the narrowest set that every kernel accepts.
  std::vector<std::string> needs;
  // What else would make it work: a sysctl, a mount, a kernel option. Empty
  // when the capabilities above are the way, or nothing is.
  std::string grant;
  bool operator==(const Capability&) const = default;
};

// A setting or feature of the kernel that explains or limits the rows above.
struct KernelFact {
  std::string name;   // "perf_event_paranoid"
  std::string value;  // "2"; "absent" when the kernel has no such thing
  std::string means;  // in words; may be empty
  bool operator==(const KernelFact&) const = default;
};

// Who asks, and of which machine.
struct DoctorFacts {
  std::string kernel_release;
  std::string machine;    // "x86_64"
  std::string proc_path;  // where the files were read
  bool is_live = false;   // false for a copied tree: hardly anything was tried
  uint32_t user_id = 0;   // the effective one
  // Of the capabilities tidemark has a use for, without "cap_".
  std::vector<std::string> effective;
  // Those that could still be gained: a file capability outside of this set
  // makes exec fail, which is how containers keep it away.
  std::vector<std::string> bounding;
  bool no_new_privs = false;  // exec grants nothing: setcap has no effect
  // Rights of an inner user namespace do not count for the kernel's own
  // files, perf and BPF, whatever the effective set says.
  bool in_user_namespace = false;
  std::vector<KernelFact> kernel;
  bool operator==(const DoctorFacts&) const = default;
};

// What could be switched on or off when tidemark was compiled.
struct BuildFeature {
  std::string name;
  bool built_in = false;
  bool operator==(const BuildFeature&) const = default;
};

}  // namespace tidemark::model
