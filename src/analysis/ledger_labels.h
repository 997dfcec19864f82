// How owners are called in rows of the ledger.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ledger_input.h"

namespace tidemark::analysis {

// "sh (12)".
std::string process_label(const LedgerProcess& process);
// The same by pid; "(12, ended)" when it is not among them.
std::string process_label(const std::vector<LedgerProcess>& processes,
                          uint64_t pid);

// "postgres × 4", "sh (12) + cat (14)", "7 processes, first sh (12)": who a set
// is.
std::string set_label(const PageSets& sets, SetId set,
                      const std::vector<LedgerProcess>& processes);

// The path of a control group, also of none and of one that is gone.
std::string group_label(const LedgerInput& input, uint64_t group);

}  // namespace tidemark::analysis
