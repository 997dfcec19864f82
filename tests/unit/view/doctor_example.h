// A made-up report with every state a row can have, for both renderers.
#pragma once

#include "analysis/doctor.h"

namespace tidemark::view {

inline analysis::DoctorReport doctor_example() {
  using model::CapabilityState;
  using model::Tier;
  analysis::DoctorInput input;
  input.facts.kernel_release = "6.1.0-test";
  input.facts.machine = "x86_64";
  input.facts.proc_path = "/proc";
  input.facts.is_live = true;
  input.facts.user_id = 1000;
  input.facts.bounding = {"dac_read_search", "sys_ptrace", "sys_admin"};
  input.facts.kernel = {{"kptr_restrict", "0", "hashes"},
                        {"swap", "2.00 GiB", ""}};
  input.binary_path = "/opt/tidemark";
  input.built_in = {{"static", true}, {"bpf", false}};
  input.capabilities = {
      {"smaps_own",
       "PSS of your own processes",
       Tier::None,
       CapabilityState::Works,
       "/proc/self/smaps",
       {},
       ""},
      {"pressure",
       "how long tasks wait for memory",
       Tier::None,
       CapabilityState::Missing,
       "/proc/pressure/memory: No such file or directory",
       {},
       "psi=1 on the kernel command line (CONFIG_PSI=y)"},
      {"smaps_of_others",
       "PSS and mappings of all",
       Tier::Ptrace,
       CapabilityState::Denied,
       "/proc/1/smaps: Permission denied",
       {"sys_ptrace"},
       ""},
      {"tracefs",
       "names of kernel events",
       Tier::Ptrace,
       CapabilityState::NotTried,
       "an odd name: \x1b[2J",
       {},
       ""},
  };
  return analysis::doctor_report(input);
}

}  // namespace tidemark::view
