// Turns the answers of the probes into advice: which tier is reached, what the
// next one would add, and the exact line that grants it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/capability.h"

namespace tidemark::analysis {

struct DoctorInput {
  model::DoctorFacts facts;
  std::vector<model::Capability> capabilities;
  std::string binary_path;  // what setcap and sudo are told
  std::vector<model::BuildFeature> built_in;
};

// How to come by something. Lines are ready to paste; empty when there is none,
// and then the note says why.
struct Grant {
  std::string line;       // for a shell, or words such as "kernel option …"
  std::string unit_line;  // the same for a systemd unit
  std::string note;       // what the line alone does not say
  bool operator==(const Grant&) const = default;
};

struct DoctorRow {
  model::Capability capability;
  Grant grant;                     // for what does not work
  std::vector<std::string> lacks;  // of the needed capabilities
};

struct TierReport {
  model::Tier tier = model::Tier::None;
  std::string adds;         // what this tier gives beyond the lower ones
  bool is_reached = false;  // what the tier is for works; single rows may not
  size_t works_count = 0;
  std::vector<DoctorRow> rows;
  // Everything denied in this tier at once. setcap replaces what a file had,
  // so the line repeats what is effective now and what the ptrace tier wants.
  Grant grant;
};

struct NextStep {
  model::Tier tier = model::Tier::None;
  std::string adds;
  Grant grant;
};

struct DoctorReport {
  model::DoctorFacts facts;
  std::string binary_path;
  std::vector<model::BuildFeature> built_in;
  // The highest tier that is reached together with all below it.
  model::Tier reached = model::Tier::None;
  std::string sentence;
  std::vector<TierReport> tiers;
  std::optional<NextStep> next;  // the lowest tier that is not reached
};

DoctorReport doctor_report(DoctorInput input);

}  // namespace tidemark::analysis
