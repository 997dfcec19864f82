#include "store/trace_head_rows.h"

#include <algorithm>
#include <utility>

#include "store/trace_schema.h"

namespace tidemark::store {

using model::Trace;
using model::TraceLeaf;
using model::TraceTask;

base::Result<TraceHeadRows> TraceHeadRows::open(Database& database) {
  TraceHeadRows rows;
  const std::pair<Statement*, const char*> wanted[] = {
      {&rows.info_row_, "INSERT OR REPLACE INTO recording VALUES(?,?)"},
      {&rows.tick_row_, "INSERT INTO trace_tick VALUES(?,?,?,?,?,?,?)"},
      {&rows.fault_row_, "INSERT INTO trace_fault VALUES(?,?,?)"},
      {&rows.note_row_, "INSERT INTO trace_note VALUES(?,?,?)"},
      {&rows.module_row_, "INSERT INTO trace_module VALUES(?,?,?,?,?)"},
  };
  for (const auto& [statement, sql] : wanted) {
    base::Result<Statement> made = database.prepare(sql);
    if (!made) return made.error();
    *statement = std::move(*made);
  }
  return rows;
}

base::Status TraceHeadRows::write_info(std::string_view name,
                                       const std::string& value) {
  auto [at, is_new] = info_.try_emplace(name, value);
  if (!is_new && at->second == value) return base::Ok{};
  at->second = value;
  info_row_.bind(0, name);
  info_row_.bind(1, std::string_view(at->second));
  return info_row_.run();
}

base::Status TraceHeadRows::write_constants(const Trace& trace) {
  for (const TraceNumber& number : kTraceNumbers) {
    base::Status status =
        write_info(number.name, std::to_string(trace.*number.target));
    if (!status) return status;
  }
  base::Status status =
      write_info(kTraceBackendName,
                 std::string(model::trace_backend_token(trace.backend)));
  for (const TraceSwitch& each : kTraceSwitches) {
    if (status) status = write_info(each.name, trace.*each.target ? "1" : "0");
  }
  uint64_t folded_count = 0;
  for (const TraceTask& task : trace.tasks)
    folded_count += task.folded_count;
  if (!status) return status;
  return write_info(kTraceFoldedName, std::to_string(folded_count));
}

base::Status TraceHeadRows::write_faults(const model::TraceFaults& faults) {
  for (const TraceFaultName& fault : kTraceFaultNames) {
    const uint64_t count = faults.*fault.target;
    const bool is_told = faults_ && (*faults_).*fault.target == count;
    if (is_told && !is_keyframe_) continue;
    base::Result<int64_t> name = interned_->text(fault.name);
    if (!name) return name.error();
    fault_row_.bind(0, tick_);
    fault_row_.bind(1, *name);
    fault_row_.bind(2, static_cast<int64_t>(count));
    base::Status status = fault_row_.run();
    if (!status) return status;
  }
  faults_ = faults;
  return base::Ok{};
}

base::Status TraceHeadRows::write_notes(const std::vector<std::string>& notes) {
  if (notes_ == notes || (!notes_ && notes.empty())) return base::Ok{};
  notes_ = notes;
  for (size_t i = 0; i < notes.size(); ++i) {
    base::Result<int64_t> text = interned_->text(notes[i]);
    if (!text) return text.error();
    note_row_.bind(0, tick_);
    note_row_.bind(1, static_cast<int64_t>(i));
    note_row_.bind(2, *text);
    base::Status status = note_row_.run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status TraceHeadRows::write_modules(
    const std::vector<model::TraceModule>& modules) {
  if (modules_ == modules) return base::Ok{};
  modules_ = modules;
  for (size_t i = 0; i < modules.size(); ++i) {
    const model::TraceModule& module = modules[i];
    base::Result<int64_t> name = interned_->text(module.name);
    if (!name) return name.error();
    const int flags = (module.was_loaded ? kTraceModuleWasLoaded : 0) |
                      (module.was_unloaded ? kTraceModuleWasUnloaded : 0);
    Statement& row = module_row_;
    row.bind(0, tick_);
    row.bind(1, static_cast<int64_t>(i));
    row.bind(2, *name);
    row.bind(3, static_cast<int64_t>(module.image_bytes));
    row.bind(4, int64_t{flags});
    base::Status status = row.run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status TraceHeadRows::write_tick(const Trace& trace) {
  size_t low_count = 0;
  for (const TraceLeaf& leaf : trace.leaves)
    low_count = std::max(low_count, leaf.lows.size());
  Statement& row = tick_row_;
  row.bind(0, tick_);
  row.bind(1, static_cast<int64_t>(trace.elapsed_ns));
  row.bind(2, static_cast<int64_t>(trace.pages));
  row.bind(3, static_cast<int64_t>(trace.peak_pages));
  row.bind(4, static_cast<int64_t>(trace.peak_realtime_ns));
  row.bind(5, static_cast<int64_t>(trace.low_stretch_ns));
  row.bind(6, static_cast<int64_t>(low_count));
  return row.run();
}

base::Status TraceHeadRows::write(const Trace& trace, int64_t tick,
                                  bool is_keyframe, Interned& interned) {
  interned_ = &interned;
  tick_ = tick;
  is_keyframe_ = is_keyframe;
  base::Status status = write_constants(trace);
  if (status) status = write_faults(trace.faults);
  if (status) status = write_notes(trace.notes);
  if (status) status = write_modules(trace.modules);
  if (status) status = write_tick(trace);
  interned_ = nullptr;
  return status;
}

}  // namespace tidemark::store
