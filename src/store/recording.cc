#include "store/recording.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "base/units.h"
#include "store/recording_info.h"
#include "store/recording_reader.h"
#include "store/schema.h"
#include "store/units.h"

namespace tidemark::store {
namespace {

using model::ProcessMaxima;
using model::RecordedProcess;
using model::Sample;

constexpr int64_t kLastTick = int64_t{1} << 52;  // more than anybody waits for

}  // namespace

std::optional<uint64_t> bytes_of(const Statement& rows, int column) {
  const std::optional<int64_t> kib = rows.maybe_integer(column);
  if (!kib) return std::nullopt;
  return static_cast<uint64_t>(*kib) * base::kKib;
}

base::Status for_each(Statement& rows, const std::function<void()>& visit) {
  while (true) {
    base::Result<bool> row = rows.step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    visit();
  }
}

base::Status Recording::Reader::load(const std::string& tick_filter) {
  base::Status status = check_schema(database_);
  // One state of the file for as long as we look, also while it grows.
  if (status) status = database_.execute("BEGIN");
  if (!status) return status;
  base::Result<model::RecordingInfo> info = read_info(database_);
  if (!info) return info.error();
  info_ = std::move(*info);
  if (info_.page_size_bytes == 0) return damaged("pages without a size");
  base::Result<int64_t> version = database_.integer("PRAGMA user_version");
  if (!version) return version.error();
  has_best_sums_ = *version >= kBestSumsVersion;
  status = load_ticks(tick_filter);
  if (status) status = load_processes();
  if (status) status = load_images();
  return status;
}

base::Status Recording::Reader::load_details() {
  if (has_details_) return base::Ok{};
  present_ = PresentFields::from(info_.smaps_fields);
  base::Status status = load_objects();
  if (status) status = load_traits();
  if (status) status = load_keyframes();
  if (status) status = load_plans();
  has_details_ = static_cast<bool>(status);
  return status;
}

base::Status Recording::Reader::load_ticks(const std::string& filter) {
  has_all_ticks_ = filter.empty();
  bool is_sane = true;
  base::Result<int64_t> version = database_.integer("PRAGMA user_version");
  if (!version) return version.error();
  constexpr int64_t kFirstWithCpu = 2;
  base::Status status =
      database_.set_filter("take_tick", 9, [&](std::span<const int64_t> row) {
        model::RecordedTick tick;
        tick.id = row[0];
        is_sane &= tick.id >= 0 && tick.id <= kLastTick;
        tick.is_new_high = row[1] == 1;
        tick.realtime_ns = static_cast<uint64_t>(row[2]);
        tick.monotonic_ns = static_cast<uint64_t>(row[3]);
        tick.read_ns = static_cast<uint64_t>(row[4]);
        tick.oldest_detail_ticks = static_cast<uint64_t>(row[5]);
        tick.undetailed_count = static_cast<uint64_t>(row[6]);
        tick.scanned_count = static_cast<uint64_t>(row[7]);
        if (row[8] >= 0) tick.cpu_ns = static_cast<uint64_t>(row[8]);
        ticks_.push_back(tick);
        return false;
      });
  if (!status) return status;
  status = database_.execute(
      "SELECT id FROM tick WHERE " + filter +
      "take_tick(id, state, utc_ns, monotonic_ns, "
      "read_ns, oldest_detail, undetailed, scanned, " +
      (*version >= kFirstWithCpu ? "ifnull(cpu_ns, -1)" : "-1") +
      ") ORDER BY id");
  if (status && !is_sane) return damaged("an absurd tick");
  return status;
}

base::Status Recording::Reader::check_all_ticks() const {
  if (has_all_ticks_) return base::Ok{};
  return base::fail(base::ErrorKind::Misused,
                    database_.path() + ": opened for one moment alone");
}

base::Status Recording::Reader::load_processes() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT p.id, p.pid, p.start_ticks, p.born, e.tick FROM proc_process p "
      "LEFT JOIN proc_end e ON e.process = p.id ORDER BY p.id");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    RecordedProcess process;
    process.id = rows->integer(0);
    process.process.pid = static_cast<int32_t>(rows->integer(1));
    process.process.start_ticks = static_cast<uint64_t>(rows->integer(2));
    process.first_tick = rows->integer(3);
    process.gone_at_tick = rows->maybe_integer(4);
    processes_.push_back(std::move(process));
  });
}

base::Status Recording::Reader::load_images() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT i.process, i.tick, i.parent_pid, c.value, x.value, a.value, "
      "i.user_id, g.value, i.image FROM proc_identity i "
      "LEFT JOIN text c ON c.id = i.comm "
      "LEFT JOIN text x ON x.id = i.executable "
      "LEFT JOIN text a ON a.id = i.command "
      "LEFT JOIN text g ON g.id = i.cgroup ORDER BY i.process, i.tick");
  if (!rows) return rows.error();
  auto process = processes_.begin();
  base::Status status = for_each(*rows, [&] {
    while (process != processes_.end() && process->id < rows->integer(0))
      ++process;
    if (process == processes_.end() || process->id != rows->integer(0)) return;
    model::RecordedImage image;
    image.from_tick = rows->integer(1);
    image.parent_pid = static_cast<int32_t>(rows->integer(2));
    image.comm = rows->text(3);
    image.executable = rows->text(4);
    image.command_line = rows->text(5);
    std::ranges::replace(image.command_line, '\x1f', '\0');
    if (const std::optional<int64_t> user = rows->maybe_integer(6)) {
      image.user_id = static_cast<uint32_t>(*user);
    }
    image.cgroup_path = rows->text(7);
    image.image = rows->integer(8);
    process->images.push_back(std::move(image));
  });
  if (!status) return status;
  for (RecordedProcess& recorded : processes_) {
    if (recorded.images.empty()) recorded.images.emplace_back();
  }
  return base::Ok{};
}

base::Status Recording::Reader::load_objects() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT id, device_major, device_minor, inode, name FROM proc_object");
  if (!rows) return rows.error();
  return for_each(*rows, [&] {
    objects_[rows->integer(0)] = {static_cast<uint32_t>(rows->integer(1)),
                                  static_cast<uint32_t>(rows->integer(2)),
                                  static_cast<uint64_t>(rows->integer(3)),
                                  std::string(rows->text(4))};
  });
}

base::Status Recording::Reader::load_traits() {
  base::Result<std::map<int64_t, Trait>> traits = read_traits(database_);
  if (!traits) return traits.error();
  traits_ = std::move(*traits);
  return base::Ok{};
}

base::Status Recording::Reader::load_keyframes() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, tick FROM proc_keyframe ORDER BY process, tick");
  if (!rows) return rows.error();
  return for_each(
      *rows, [&] { keyframes_[rows->integer(0)].push_back(rows->integer(1)); });
}

base::Status Recording::Reader::load_plans() {
  base::Result<Statement> rows = database_.prepare(
      "SELECT process, tick, tier, step FROM proc_detail "
      "ORDER BY process, tick");
  if (!rows) return rows.error();
  bool is_sane = true;
  base::Status status = for_each(*rows, [&] {
    const int64_t tick = rows->integer(1);
    const int64_t tier = rows->integer(2);
    const int64_t step = rows->integer(3);
    is_sane &= tick >= 0 && tick <= kLastTick && tier >= 0 &&
               tier <= static_cast<int64_t>(model::DetailTier::Full) &&
               step >= 0 && step <= UINT32_MAX;
    if (!is_sane) return;
    plans_[rows->integer(0)].add(tick, static_cast<model::DetailTier>(tier),
                                 step);
  });
  if (status && !is_sane) return damaged("an absurd reading plan");
  return status;
}

const MappingHead* MappingHeads::find(int64_t no) const {
  auto found = std::ranges::lower_bound(sorted, no, {}, &MappingHead::no);
  return found != sorted.end() && found->no == no ? &*found : nullptr;
}

base::Result<const MappingHeads*> Recording::Reader::heads_of(int64_t process) {
  auto known = heads_.find(process);
  if (known != heads_.end()) return &known->second;
  if (!head_rows_) {
    base::Status status = database_.set_filter(
        "take_head", 4, [this](std::span<const int64_t> row) {
          heads_read_.sorted.push_back(
              {row[0], static_cast<uint64_t>(row[1]) * kAddressUnit,
               static_cast<uint64_t>(row[2]) * kAddressUnit, row[3]});
          return false;
        });
    if (!status) return status.error();
    base::Result<Statement> prepared = database_.prepare(
        "SELECT no FROM proc_mapping WHERE process = ? AND "
        "take_head(no, start, file_offset, object) ORDER BY no");
    if (!prepared) return prepared.error();
    head_rows_ = std::move(*prepared);
  }
  heads_read_.sorted.clear();
  head_rows_->bind(0, process);
  base::Status status = head_rows_->run();
  if (!status) return status.error();
  return &heads_.emplace(process, heads_read_).first->second;
}

Recording::Recording(std::unique_ptr<Reader> reader)
    : reader_(std::move(reader)) {}
Recording::Recording(Recording&&) noexcept = default;
Recording& Recording::operator=(Recording&&) noexcept = default;
Recording::~Recording() = default;

base::Result<Recording> Recording::open_filtered(
    const std::string& path, const std::string& tick_filter) {
  base::Result<Database> database = Database::open(path, OpenMode::ReadOnly);
  if (!database) return database.error();
  auto reader = std::make_unique<Reader>(std::move(*database));
  base::Status status = reader->load(tick_filter);
  if (!status) return status.error();
  return Recording(std::move(reader));
}

base::Result<Recording> Recording::open(const std::string& path) {
  return open_filtered(path, "");
}

base::Result<Recording> Recording::open_at(const std::string& path,
                                           int64_t tick, uint64_t before_ns) {
  const std::string id = std::to_string(tick);
  return open_filtered(
      path, "id IN ((SELECT min(id) FROM tick), (SELECT max(id) FROM tick), " +
                id + ", (SELECT id FROM tick WHERE id < " + id +
                " AND monotonic_ns <= (SELECT max(0, monotonic_ns - " +
                std::to_string(before_ns) + ") FROM tick WHERE id = " + id +
                ") ORDER BY id DESC LIMIT 1)) AND ");
}

const std::string& Recording::path() const {
  return reader_->path();
}
const model::RecordingInfo& Recording::info() const {
  return reader_->info();
}
const std::vector<model::RecordedTick>& Recording::ticks() const {
  return reader_->ticks();
}
const std::vector<RecordedProcess>& Recording::processes() const {
  return reader_->processes();
}
base::Result<std::vector<model::RecordedGap>> Recording::gaps() const {
  return reader_->gaps();
}
base::Result<std::vector<model::RecordedNote>> Recording::notes() const {
  return reader_->notes();
}
base::Result<std::vector<ProcessMaxima>> Recording::maxima() const {
  return reader_->maxima();
}
base::Result<std::vector<TableSize>> Recording::table_sizes() const {
  return reader_->table_sizes();
}
base::Result<Sample> Recording::sample_at(int64_t tick,
                                          const ProcessSet& processes) const {
  return reader_->sample_at(tick, processes);
}
base::Result<Recording::Pair> Recording::pair_at(
    int64_t tick, int64_t earlier_tick, const ProcessSet& processes) const {
  return reader_->pair_at(tick, earlier_tick, processes);
}
base::Status Recording::walk_samples(int64_t first, int64_t last,
                                     const ProcessSet& processes,
                                     const SampleVisitor& visit) const {
  return reader_->walk_samples(first, last, processes, visit);
}
base::Status Recording::walk_machine(const MachineVisitor& visit) const {
  return reader_->walk_machine(visit);
}
base::Status Recording::walk_cgroup(const std::string& path,
                                    const CgroupVisitor& visit) const {
  return reader_->walk_cgroup(path, visit);
}
base::Result<std::optional<int64_t>> Recording::detail_tick(
    int64_t process, int64_t tick) const {
  return reader_->detail_tick(process, tick);
}
base::Result<std::optional<model::RecordedTrace>> Recording::trace() const {
  return reader_->trace();
}
base::Result<model::Trace> Recording::trace_at(int64_t tick) const {
  return reader_->trace_at(tick);
}
base::Result<model::TraceCourse> Recording::trace_course(int64_t first,
                                                         int64_t last) const {
  return reader_->trace_course(first, last);
}
base::Result<std::optional<model::RecordedVms>> Recording::vms() const {
  return reader_->vms();
}
base::Status Recording::walk_vms(int64_t first, int64_t last,
                                 const VmVisitor& visit) const {
  return reader_->walk_vms(first, last, visit);
}
base::Result<std::vector<model::VmScan>> Recording::vm_scans(
    int64_t first, int64_t last) const {
  std::vector<model::VmScan> scans;
  base::Status status = reader_->walk_vms(
      first, last, [&](int64_t, model::VmScan scan) -> base::Status {
        scans.push_back(std::move(scan));
        return base::Ok{};
      });
  if (!status) return status.error();
  return scans;
}
base::Result<std::vector<model::VmScan>> Recording::vm_scans() const {
  return vm_scans(0, std::numeric_limits<int64_t>::max());
}
base::Result<model::Timeline> Recording::timeline(
    const ProcessSet& processes) const {
  return reader_->timeline(processes);
}
base::Result<std::vector<model::Band>> Recording::kinds(
    std::span<const int64_t> ticks) const {
  return reader_->kinds(ticks);
}

base::Result<model::Bands> Recording::bands(
    const ProcessSet& processes, std::span<const int64_t> ticks) const {
  return reader_->bands(processes, ticks);
}

}  // namespace tidemark::store
