// Names of the files in the page cache. There may be hundreds of thousands: the
// largest have rows in the ledger, the others are named when they are shown.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/ledger.h"
#include "base/result.h"
#include "model/ledger.h"
#include "source/bpf/page_structs.h"
#include "source/file_names.h"
#include "source/roots.h"

namespace tidemark::watch {

struct NamedFile {
  uint64_t address = 0;
  uint64_t pages = 0;
  std::string_view name;  // for the length of the call
  bool is_gone = false;
};

// Asks for some at a time, in the order of `owners`; of some nothing is told.
base::Status visit_file_names(
    source::PageStructs& structs, const source::FileNames& names,
    std::span<const analysis::PageOwner> owners,
    const std::function<base::Status(const NamedFile& file)>& visit);

// Shows the row that each of these files would have, named at that time; those
// gone by then are left out. Nothing is kept of them.
using LedgerRowVisitor =
    std::function<base::Status(const model::LedgerRow& row)>;
using OtherFiles = std::function<base::Status(const LedgerRowVisitor& visit)>;
OtherFiles name_later(source::PageStructs structs, const source::Roots& roots,
                      std::vector<analysis::PageOwner> owners,
                      uint64_t page_bytes);

}  // namespace tidemark::watch
