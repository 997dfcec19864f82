#include "cli/import_input.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/text.h"
#include "model/memstats.h"
#include "model/region.h"
#include "parse/memstats.h"
#include "parse/smaps.h"

namespace tidemark::cli {
namespace {

using base::ErrorKind;
using model::Mapping;
using model::Sample;
using model::SmapsField;

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

base::Result<struct stat> look_at(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return base::fail_errno(path, errno);
  if (S_ISDIR(info.st_mode)) return base::fail_errno(path, EISDIR);
  return info;
}

// Our clock begins in 1970; a file may claim to be older.
uint64_t modified_ns_of(const struct stat& info) {
  if (info.st_mtim.tv_sec < 0) return 0;
  return static_cast<uint64_t>(info.st_mtim.tv_sec) * base::kNsPerSecond +
         static_cast<uint64_t>(info.st_mtim.tv_nsec);
}

base::Result<std::string> read_whole(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  base::Result<base::Directory> directory = base::open_directory(folder);
  if (!directory) return directory.error();
  return base::read_file_at(*directory, std::string(base::base_name(path)));
}

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
  if (beginning.starts_with('[') || beginning.starts_with('{')) {
    return ImportFormat::Memstats;
  }
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

model::GuestAnswer answer_of(const std::optional<model::BalloonStats>& told) {
  model::GuestAnswer answer;
  answer.source = "memstats";
  if (!told) {
    answer.state = model::GuestState::Failed;
    answer.because = "the monitor did not answer memstats";
    return answer;
  }
  answer.state = model::GuestState::Told;
  answer.balloon_bytes = told->balloon_bytes;
  answer.deflates_on_oom = true;  // crosvm always offers it
  for (size_t i = 0; i < model::kBalloonFields.size(); ++i)
    answer.stats[model::kBalloonFields[i]] = told->values[i];
  return answer;
}

// The file has totals of whole processes: what of them is guest RAM, and how
// much the guest was given, nobody knows any more.
model::VmScan scan_of(const model::MemstatsRecord& record,
                      uint64_t realtime_ns) {
  model::VmScan scan;
  scan.started_realtime_ns = realtime_ns;
  if (record.processes.empty()) return scan;
  const std::string because = "memstats does not tell guest RAM apart";
  model::Vm& vm = scan.vms.emplace_back();
  vm.id.pid = record.processes.front().pid;
  vm.name = record.processes.front().name;
  vm.kind = model::vm_kind_of_program(vm.name);
  for (model::Reading<uint64_t>* reading :
       {&vm.ram.configured_bytes, &vm.ram.resident_bytes, &vm.ram.swapped_bytes,
        &vm.ram.hugetlb_bytes, &vm.ram.thp_bytes, &vm.ram.ksm_bytes,
        &vm.ram.ksm_saved_bytes}) {
    *reading = model::unknown<uint64_t>(because);
  }
  vm.ram.configured_bytes.unknown_because =
      "memstats does not tell how much RAM the guest was given";
  for (const model::MemstatsProcess& process : record.processes) {
    model::VmProcess& found = vm.processes.emplace_back();
    found.id.pid = process.pid;
    found.name = process.name;
    found.role = vm.processes.size() == 1 ? model::VmRole::Monitor
                                          : model::VmRole::Child;
    found.own = model::known(process.totals);
    found.ram = model::unknown<model::SmapsFields>(because);
    found.rss_bytes = process.totals.get(SmapsField::Rss);
  }
  vm.guest = answer_of(record.balloon);
  return scan;
}

// The file keeps seconds since collecting began and is written when it ends.
base::Status take_memstats(const std::string& text,
                           const ImportOptions& options, uint64_t modified_ns,
                           ImportInput& input) {
  base::Result<std::vector<model::MemstatsRecord>> records =
      parse::parse_memstats(text);
  if (!records) return base::within(input.path, records.error());
  if (records->empty()) {
    return base::fail(ErrorKind::Malformed, input.path + ": no records in it");
  }
  const uint64_t first = records->front().elapsed_seconds;
  const uint64_t lasted =
      (records->back().elapsed_seconds - first) * base::kNsPerSecond;
  const uint64_t begin = options.realtime_ns.value_or(
      modified_ns > lasted ? modified_ns - lasted : 0);
  for (model::MemstatsRecord& record : *records) {
    Sample& sample = input.samples.emplace_back();
    sample.started_realtime_ns =
        begin + (record.elapsed_seconds - first) * base::kNsPerSecond;
    sample.vms = scan_of(record, sample.started_realtime_ns);
    for (model::MemstatsProcess& process : record.processes) {
      sample.processes.push_back(
          process_of(process.pid, std::move(process.name),
                     {model::rollup_mapping(process.totals)}));
    }
  }
  input.words = "memstats";
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
  base::Result<struct stat> info = look_at(path);
  if (!info) return info.error();
  ImportInput input;
  input.path = path;
  ImportFormat format = options.format;
  base::Status status = base::Ok{};
  std::string text;
  if (format != ImportFormat::Watcher) {
    base::Result<std::string> whole = read_whole(path);
    if (!whole) return whole.error();
    text = std::move(*whole);
  }
  if (format == ImportFormat::Auto) {
    base::Result<ImportFormat> found = format_of(path, text);
    if (!found) return found.error();
    format = *found;
  }
  const uint64_t modified_ns = modified_ns_of(*info);
  switch (format) {
    case ImportFormat::Smaps:
      status = take_smaps(text, options, modified_ns, input);
      break;
    case ImportFormat::Memstats:
      status = take_memstats(text, options, modified_ns, input);
      break;
    default:
      status = take_watcher(options, input);
  }
  if (status) status = check_naming(input, options);
  if (!status) return status.error();
  return input;
}

}  // namespace tidemark::cli
