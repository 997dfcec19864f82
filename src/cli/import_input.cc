#include "cli/import_input.h"

#include <utility>
#include <vector>

#include "analysis/memstats_vm.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/memstats_input.h"
#include "model/memstats.h"
#include "model/region.h"
#include "parse/smaps.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using model::Mapping;
using model::Sample;
using model::SmapsField;

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

// The beginning is enough to tell them apart; the parsers judge the rest.
base::Result<ImportFormat> format_of(const std::string& path,
                                     std::string_view beginning) {
  if (beginning.starts_with(kSqliteMagic)) return ImportFormat::Watcher;
  beginning = base::trim(beginning);
  while (beginning.starts_with('\n'))
    beginning = base::trim(beginning.substr(1));
  if (beginning.empty()) {
    return base::fail(ErrorKind::Malformed, path + ": the file is empty");
  }
  if (begins_as_memstats(beginning)) return ImportFormat::Memstats;
  Mapping mapping;
  std::string_view rest = beginning;
  if (parse::parse_mapping_line(base::take_line(rest), mapping)) {
    return ImportFormat::Smaps;
  }
  return base::fail(ErrorKind::Malformed,
                    path + ": nothing that can be imported",
                    "a database of memory-watcher, the text of smaps or "
                    "smaps_rollup, or JSON of memstats");
}

base::Error cut_short(const std::string& path, std::string_view what) {
  return base::fail(ErrorKind::Malformed,
                    path + ": cut short: " + std::string(what));
}

// The kernel prints the same lines for every mapping. The parser cannot know
// that a block goes on where the text ends between two of them.
base::Status check_whole(const std::string& path, std::string_view text,
                         const std::vector<Mapping>& mappings) {
  if (!text.ends_with('\n')) return cut_short(path, "its last line has no end");
  const model::SmapsFields& first = mappings.front().fields;
  if (!first.has(SmapsField::Rss) || !first.has(SmapsField::Pss)) {
    return base::fail(ErrorKind::Malformed, path + ": no Rss and Pss in it",
                      "the text of /proc/PID/smaps or smaps_rollup is wanted");
  }
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    const auto field = static_cast<SmapsField>(i);
    if (first.has(field) && !mappings.back().fields.has(field)) {
      return cut_short(path,
                       "the last mapping has no " +
                           std::string(model::kSmapsLabels[i].kernel_label));
    }
  }
  if (mappings.front().vm_flags != 0 && mappings.back().vm_flags == 0) {
    return cut_short(path, "the last mapping has no VmFlags");
  }
  return base::Ok{};
}

bool is_rollup(std::string_view text) {
  Mapping head;
  return parse::parse_mapping_line(base::take_line(text), head) &&
         head.name == model::kRollupName;
}

base::Result<std::vector<Mapping>> mappings_in(const std::string& path,
                                               std::string_view text) {
  const auto named = [&](const base::Error& error) {
    return base::within(path, error);
  };
  if (!is_rollup(text)) {
    base::Result<std::vector<Mapping>> mappings = parse::parse_smaps(text);
    if (!mappings) return named(mappings.error());
    if (mappings->empty()) {
      return base::fail(ErrorKind::Malformed, path + ": no mappings in it");
    }
    base::Status status = check_whole(path, text, *mappings);
    if (!status) return status.error();
    return mappings;
  }
  base::Result<model::SmapsFields> totals = parse::parse_smaps_rollup(text);
  if (!totals) return named(totals.error());
  std::vector<Mapping> one = {model::rollup_mapping(*totals)};
  base::Status status = check_whole(path, text, one);
  if (!status) return status.error();
  // The last line of every kernel that has the file.
  if (!totals->has(SmapsField::Locked)) return cut_short(path, "no Locked");
  return one;
}

model::Process process_of(int32_t pid, std::string name,
                          std::vector<Mapping> mappings) {
  model::Process process;
  process.id.pid = pid;
  process.stat.pid = pid;
  process.stat.comm = std::move(name);
  process.mappings = model::known(std::move(mappings));
  return process;
}

base::Status take_smaps(const std::string& text, const ImportOptions& options,
                        uint64_t modified_ns, ImportInput& input) {
  base::Result<std::vector<Mapping>> mappings = mappings_in(input.path, text);
  if (!mappings) return mappings.error();
  input.words = is_rollup(text) ? "smaps_rollup text" : "smaps text";
  const std::string name = options.name.empty()
                               ? std::string(base::base_name(input.path))
                               : options.name;
  Sample sample;
  sample.started_realtime_ns = options.realtime_ns.value_or(modified_ns);
  sample.processes.push_back(
      process_of(options.pid.value_or(1), name, std::move(*mappings)));
  input.samples.push_back(std::move(sample));
  return base::Ok{};
}

base::Status take_memstats(const std::string& text,
                           const ImportOptions& options, uint64_t modified_ns,
                           ImportInput& input) {
  base::Result<MemstatsFile> file =
      memstats_in(input.path, text, modified_ns, options.realtime_ns);
  if (!file) return file.error();
  std::vector<model::VmScan> scans =
      analysis::memstats_scans(file->records, file->begin_realtime_ns);
  const uint64_t first = file->records.front().elapsed_seconds;
  for (model::MemstatsRecord& record : file->records) {
    Sample& sample = input.samples.emplace_back();
    sample.started_realtime_ns =
        file->begin_realtime_ns +
        (record.elapsed_seconds - first) * base::kNsPerSecond;
    sample.vms = std::move(scans[input.samples.size() - 1]);
    for (model::MemstatsProcess& process : record.processes) {
      sample.processes.push_back(
          process_of(process.pid, std::move(process.name),
                     {model::rollup_mapping(process.totals)}));
    }
  }
  input.words = "memstats";
  input.is_cut = file->is_cut;
  return base::Ok{};
}

base::Status take_watcher(const ImportOptions& options, ImportInput& input) {
  store::WatcherOptions wanted;
  wanted.zone = options.zone;
  wanted.pid = options.pid.value_or(1);
  wanted.name = options.name.empty() ? std::string(base::base_name(input.path))
                                     : options.name;
  base::Result<store::WatcherFile> file =
      store::WatcherFile::open(input.path, std::move(wanted));
  if (!file) return file.error();
  input.words = file->generation();
  input.watcher = std::move(*file);
  return base::Ok{};
}

// A name for what has names of its own would be lost without a word.
base::Status check_naming(const ImportInput& input,
                          const ImportOptions& options) {
  const bool is_named = input.watcher ? input.watcher->names_processes()
                                      : input.words == "memstats";
  if (is_named && (options.pid || !options.name.empty())) {
    return base::fail(ErrorKind::Misused,
                      input.path + " names its processes itself",
                      "leave out --pid and --name");
  }
  if (input.watcher && options.realtime_ns) {
    return base::fail(ErrorKind::Misused, input.path + " has times of its own",
                      "leave out --at; --time-zone says how they are meant");
  }
  return base::Ok{};
}

}  // namespace

base::Result<ImportInput> open_import(const std::string& path,
                                      const ImportOptions& options) {
  base::Result<uint64_t> modified_ns = modified_realtime_ns(path);
  if (!modified_ns) return modified_ns.error();
  ImportInput input;
  input.path = path;
  ImportFormat format = options.format;
  base::Status status = base::Ok{};
  std::string text;
  if (format != ImportFormat::Watcher) {
    base::Result<std::string> whole = read_whole_file(path);
    if (!whole) return whole.error();
    text = std::move(*whole);
  }
  if (format == ImportFormat::Auto) {
    base::Result<ImportFormat> found = format_of(path, text);
    if (!found) return found.error();
    format = *found;
  }
  switch (format) {
    case ImportFormat::Smaps:
      status = take_smaps(text, options, *modified_ns, input);
      break;
    case ImportFormat::Memstats:
      status = take_memstats(text, options, *modified_ns, input);
      break;
    default:
      status = take_watcher(options, input);
  }
  if (status) status = check_naming(input, options);
  if (!status) return status.error();
  return input;
}

}  // namespace tidemark::cli
