#include <utility>

#include "base/units.h"
#include "model/best_known.h"
#include "model/category.h"
#include "store/recorder_writer.h"
#include "store/recording_info.h"
#include "store/schema.h"

namespace tidemark::store {

using model::Sample;

// The first full reading tells which fields this kernel prints.
base::Status Recorder::Writer::write_fields(const Sample& sample) {
  if (!info_.smaps_fields.empty()) return base::Ok{};
  for (const model::Process& process : sample.processes) {
    const bool is_full = process.mappings && !process.mappings->empty() &&
                         process.tier == model::DetailTier::Full;
    if (!is_full) continue;
    for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
      const auto field = static_cast<model::SmapsField>(i);
      if (process.mappings->front().fields.has(field)) {
        info_.smaps_fields.push_back(field);
      }
    }
    return write_info(database_, info_);
  }
  return base::Ok{};
}

base::Result<ProcessRows*> Recorder::Writer::rows_of(
    const model::Process& process) {
  const ProcessKey key(process.id.pid, process.id.start_ticks);
  auto known = processes_.find(key);
  if (known == processes_.end()) {
    const int64_t id = next_process_++;
    Statement& row = statements_->process.process;
    row.bind(0, id);
    row.bind(1, int64_t{process.id.pid});
    row.bind(2, static_cast<int64_t>(process.id.start_ticks));
    row.bind(3, next_tick_);
    base::Status status = row.run();
    if (!status) return status.error();
    known = processes_.emplace(key, Live{ProcessRows(id)}).first;
  }
  known->second.seen_tick = next_tick_;
  return &known->second.rows;
}

base::Status Recorder::Writer::write_processes(const Sample& sample) {
  const RowContext context = {statements_->process, *interned_, next_tick_,
                              info_.page_size_bytes, sample.memory_devices};
  for (const model::Process& process : sample.processes) {
    base::Result<ProcessRows*> rows = rows_of(process);
    if (!rows) return rows.error();
    const bool is_base = next_tick_ % kTicksPerBase == 0;
    if (is_base) (*rows)->begin_base();
    base::Status status = (*rows)->write(process, context);
    if (status && is_base) status = (*rows)->write_base(context);
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status Recorder::Writer::end_missing() {
  for (auto at = processes_.begin(); at != processes_.end();) {
    if (at->second.seen_tick == next_tick_) {
      ++at;
      continue;
    }
    Statement& row = statements_->process.end;
    row.bind(0, at->second.rows.id());
    row.bind(1, next_tick_);
    base::Status status = row.run();
    if (!status) return status;
    at = processes_.erase(at);
  }
  return base::Ok{};
}

// The best values of all processes. What they share stands in the bound of each
// of them and is counted once here.
base::Status Recorder::Writer::write_categories(const Sample& sample) {
  model::BestShares sums{};
  for (const auto& [key, live] : processes_) {
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i].add(live.rows.categories()[i]);
  }
  if (sample.machine) {
    const auto kib = [](std::optional<uint64_t> bytes) {
      return bytes ? std::optional(*bytes / base::kKib) : std::nullopt;
    };
    const model::MemInfo& info = sample.machine->meminfo;
    model::count_shared_once({kib(info.mapped_bytes), kib(info.shmem_bytes)},
                             sums);
  }
  // A base says all there is; and what there is no more, once.
  const bool is_base = next_tick_ % kTicksPerBase == 0;
  Statement& row = statements_->category;
  for (size_t i = 0; i < sums.size(); ++i) {
    const bool is_repeated = is_base && sums[i] != model::BestShare();
    if (sums[i] == totals_[i] && !is_repeated) continue;
    row.bind(0, next_tick_);
    row.bind(1, model::category_token(model::kCategories[i]));
    int column = 2;
    for (uint64_t kib : {sums[i].rss, sums[i].pss, sums[i].uss, sums[i].swap,
                         sums[i].bounded, sums[i].estimated})
      row.bind(column++, static_cast<int64_t>(kib));
    base::Status status = row.run();
    if (!status) return status;
  }
  totals_ = sums;
  return base::Ok{};
}

}  // namespace tidemark::store
