// Things that are written once and referred to by number: names, files and
// combinations of flags. Their number stays small however long one records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/result.h"
#include "model/mapping.h"
#include "model/region.h"
#include "store/database.h"

namespace tidemark::store {

class Interned {
 public:
  // Loads what the file holds already.
  static base::Result<Interned> load(Database& database);

  base::Result<int64_t> text(std::string_view value);
  base::Result<int64_t> object(const model::Mapping& mapping);
  base::Result<int64_t> trait(const model::Mapping& mapping,
                              model::RegionKind kind);

 private:
  using Object = std::tuple<uint32_t, uint32_t, uint64_t, std::string>;
  // Permission letters, flags, page sizes in KiB, THP, kind.
  using Trait = std::tuple<uint8_t, uint64_t, int64_t, int64_t, bool, uint8_t>;
  struct TextHash {
    using is_transparent = void;  // NOLINT: a name the library looks for
    size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  base::Status load_texts(Database& database);
  base::Status load_objects(Database& database);

  std::unordered_map<std::string, int64_t, TextHash, std::equal_to<>> texts_;
  std::map<Object, int64_t> objects_;
  // Not loaded: a trait written again under another number is the same trait.
  std::map<Trait, int64_t> traits_;
  int64_t next_text_ = 1;
  int64_t next_object_ = 1;
  int64_t next_trait_ = 1;
  Statement insert_text_;
  Statement insert_object_;
  Statement insert_trait_;
};

// "rd wr mr mw me ac", as smaps prints them.
std::string vm_flag_text(uint64_t flags);

}  // namespace tidemark::store
