#include "watch/ledger_names.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace tidemark::watch {

base::Status visit_file_names(
    source::PageStructs& structs, const source::FileNames& names,
    std::span<const analysis::PageOwner> owners,
    const std::function<base::Status(const NamedFile& file)>& visit) {
  constexpr size_t kSome = 1024;
  std::vector<uint64_t> addresses;
  while (!owners.empty()) {
    const std::span<const analysis::PageOwner> some =
        owners.first(std::min(owners.size(), kSome));
    owners = owners.subspan(some.size());
    addresses.clear();
    for (const analysis::PageOwner& owner : some)
      addresses.push_back(owner.address);
    base::Result<std::vector<model::CachedFile>> told =
        structs.name_files(addresses);
    if (!told) return told.error();
    size_t next = 0;
    for (const model::CachedFile& file : *told) {
      // They come in the order they were asked for.
      while (next < some.size() && some[next].address != file.address)
        ++next;
      if (next == some.size()) break;
      const std::string name = names.name(file);
      base::Status status =
          visit({file.address, some[next].pages, name, file.inode_id == 0});
      if (!status) return status;
    }
  }
  return base::Ok{};
}

OtherFiles name_later(source::PageStructs structs, const source::Roots& roots,
                      std::vector<analysis::PageOwner> owners,
                      uint64_t page_bytes) {
  struct State {
    source::PageStructs structs;
    source::FileNames names;
    std::vector<analysis::PageOwner> owners;
    uint64_t page_bytes = 0;
  };
  // Shared, because a function object must be copyable; nobody copies it.
  const auto state = std::make_shared<State>(
      State{std::move(structs), source::FileNames(roots), std::move(owners),
            page_bytes});
  return [state](const LedgerRowVisitor& visit) {
    return visit_file_names(state->structs, state->names, state->owners,
                            [&](const NamedFile& file) -> base::Status {
                              if (file.is_gone) return base::Ok{};
                              model::LedgerRow row;
                              row.ledger_class = model::LedgerClass::File;
                              row.owner = file.name;
                              row.bytes = file.pages * state->page_bytes;
                              return visit(row);
                            });
  };
}

}  // namespace tidemark::watch
