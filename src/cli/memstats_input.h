// Files of crosvm's memstats collector, and of ours in its format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/memstats.h"

namespace tidemark::cli {

struct MemstatsFile {
  std::vector<model::MemstatsRecord> records;  // at least one
  uint64_t begin_realtime_ns = 0;
  bool is_cut = false;  // who wrote it was killed, or its disk was full
};

base::Result<std::string> read_whole_file(const std::string& path);

// When a file, which is no folder, was written last.
base::Result<uint64_t> modified_realtime_ns(const std::string& path);

// Whether it begins as JSON does; recordings are told by another beginning.
bool begins_as_memstats(std::string_view text);

// The file keeps seconds since collecting began and is written when it ends:
// so it began that long before `modified_ns`, unless the caller knows better.
// Of a text that was cut the records that are whole are taken.
base::Result<MemstatsFile> memstats_in(const std::string& path,
                                       std::string_view text,
                                       uint64_t modified_ns,
                                       std::optional<uint64_t> begin_ns);

// Empty when the file is something else, or cannot be opened: those who read
// other files say why.
base::Result<std::optional<MemstatsFile>> read_memstats_file(
    const std::string& path);

}  // namespace tidemark::cli
