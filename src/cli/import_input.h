// Files of other tools, told apart and made into samples.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time_zone.h"
#include "model/sample.h"
#include "store/watcher_file.h"

namespace tidemark::cli {

enum class ImportFormat { Auto, Watcher, Smaps, Memstats };

struct ImportOptions {
  ImportFormat format = ImportFormat::Auto;
  base::TimeZone zone;
  std::optional<int32_t> pid;
  std::string name;
  std::optional<uint64_t> realtime_ns;  // of the first sample
};

// A file that was opened and found to be what it should be. Text is read
// whole, so that a bad end is known before anything is written; a database is
// read sample by sample.
struct ImportInput {
  std::string path;
  std::string words;  // "memory-watcher 0.1", "smaps text"
  std::optional<store::WatcherFile> watcher;
  std::vector<model::Sample> samples;
  bool is_cut = false;  // its end is missing, and the rest was taken
};

base::Result<ImportInput> open_import(const std::string& path,
                                      const ImportOptions& options);

}  // namespace tidemark::cli
