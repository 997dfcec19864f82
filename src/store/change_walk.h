// The changes of mappings in the order of time. The table holds them by epoch
// and process, as they are cheapest to write; this puts an epoch in order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/mapping.h"
#include "model/region.h"
#include "store/database.h"

namespace tidemark::store {

// Which mapping changed, and when.
struct ChangeKey {
  int64_t process = 0;
  int64_t tick = 0;
  int64_t no = 0;
};

struct ChangeRow {
  static constexpr int64_t kUnknown = -1;
  static constexpr size_t kFieldCount = 9;

  int64_t process = 0;
  int64_t tick = 0;
  int64_t no = 0;
  int64_t trait = 0;
  int64_t size_kib = 0;                           // 0: the mapping has ended
  std::array<int64_t, kFieldCount> fields_kib{};  // pss … swap, as in the table
  int64_t rss_kib = 0;  // the sum of the parts unless told otherwise
  std::string rare;

  int64_t pss_kib() const { return fields_kib[0]; }
  int64_t private_kib() const {
    return fields_kib[4] == kUnknown ? kUnknown : fields_kib[4] + fields_kib[5];
  }
  int64_t anonymous_kib() const { return fields_kib[7]; }
  int64_t swap_kib() const { return fields_kib[8]; }
  bool is_end() const { return size_kib == 0; }
};

// "Private_Hugetlb" and the like out of a row's rare fields, in KiB; 0 when not
// there.
int64_t rare_kib(const std::string& rare, std::string_view label);

// Of the fields that a row leaves out when they are zero, those that the kernel
// of the recording printed: an absent one is a zero, the others are unknown.
struct PresentFields {
  model::SmapsFields rare_zeros;
  bool has_size = false;

  static PresentFields from(const std::vector<model::SmapsField>& printed);
};

// Sets all fields of the mapping that the row tells.
void fill_fields(const ChangeRow& row, const PresentFields& present,
                 model::SmapsFields& fields);

struct Trait {
  model::Permissions permissions;
  uint64_t vm_flags = 0;
  std::optional<uint64_t> kernel_page_bytes;
  std::optional<uint64_t> mmu_page_bytes;
  bool is_thp_eligible = false;
  model::RegionKind kind = model::RegionKind::Anonymous;
};
base::Result<std::map<int64_t, Trait>> read_traits(Database& database);

enum class ChangeColumns {
  All,
  Sums,  // what sums are made of; the rest is kUnknown
};

class ChangeWalk {
 public:
  ChangeWalk(ChangeWalk&&) noexcept;
  ChangeWalk& operator=(ChangeWalk&&) noexcept;
  ChangeWalk(const ChangeWalk&) = delete;
  ChangeWalk& operator=(const ChangeWalk&) = delete;
  ~ChangeWalk();

  // Of one process, or of all.
  static base::Result<ChangeWalk> prepare(
      Database& database, std::optional<int64_t> process,
      ChangeColumns columns = ChangeColumns::All);

  // Rows of the ticks from `first` to `last`, both included, tick by tick and
  // by process within each. `first` is rounded down to its epoch.
  base::Status walk(int64_t first, int64_t last,
                    const std::function<void(const ChangeRow&)>& visit);

 private:
  struct Epoch;
  ChangeWalk();

  // Stays where it is: rows without rare fields are handed to it from within
  // the statement, which is cheaper than column by column.
  std::unique_ptr<Epoch> epoch_;
  Statement rows_;
  std::string path_;
};

// By their numbers in the recording, both included.
struct ProcessRange {
  int64_t first = 0;
  int64_t last = 0;
};

// The wanted rows of those ticks and processes, the newest of each
// mapping first as a rule. One that is not wanted is not unpacked: most of what
// lies between a keyframe and a moment is overtaken by something newer.
base::Status walk_newest_first(
    Database& database, ProcessRange processes, int64_t first, int64_t last,
    const std::function<bool(const ChangeKey&)>& is_wanted,
    const std::function<void(const ChangeRow&)>& visit);

}  // namespace tidemark::store
