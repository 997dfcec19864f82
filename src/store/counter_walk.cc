#include "store/counter_walk.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.h"
#include "store/recording_reader.h"
#include "store/schema.h"

namespace tidemark::store {
namespace {

constexpr std::string_view kCounterColumns = "resident, shared";
constexpr std::string_view kStatusColumns =
    "rss_anon, rss_file, rss_shmem, hugetlb, swap, state";
constexpr int kFirstColumn = 2;  // behind the process and the tick

std::string in_order(std::string_view table, std::string_view columns) {
  return "SELECT process, tick, " + std::string(columns) + ", epoch FROM " +
         std::string(table) +
         " WHERE epoch BETWEEN ? AND ? ORDER BY epoch, process, tick";
}

std::string newest(std::string_view table, std::string_view columns) {
  return "SELECT c.process, c.tick, " + std::string(columns) +
         " FROM epoch e CROSS JOIN " + std::string(table) +
         " c ON c.epoch = e.id WHERE e.id BETWEEN ? AND ? AND c.process = ? "
         "AND e.id * 16 + c.tick <= ? ORDER BY e.id DESC, c.tick DESC LIMIT 1";
}

std::optional<model::Statm> statm_of(const Statement& rows,
                                     uint64_t page_size_bytes) {
  const std::optional<uint64_t> resident = bytes_of(rows, kFirstColumn);
  if (!resident) return std::nullopt;
  model::Statm statm;
  statm.resident_pages = *resident / page_size_bytes;
  statm.shared_pages =
      bytes_of(rows, kFirstColumn + 1).value_or(0) / page_size_bytes;
  return statm;
}

void read_status(const Statement& rows, model::Process& process) {
  model::ProcessStatus& status = process.status;
  status.rss_anon_bytes = bytes_of(rows, kFirstColumn);
  status.rss_file_bytes = bytes_of(rows, kFirstColumn + 1);
  status.rss_shmem_bytes = bytes_of(rows, kFirstColumn + 2);
  status.hugetlb_bytes = bytes_of(rows, kFirstColumn + 3);
  status.swap_bytes = bytes_of(rows, kFirstColumn + 4);
  process.state =
      static_cast<model::ProcessState>(rows.integer(kFirstColumn + 5));
}

}  // namespace

base::Result<CounterWalk> CounterWalk::prepare(Database& database,
                                               uint64_t page_size_bytes,
                                               const std::set<int64_t>& chosen,
                                               int64_t first, int64_t last) {
  CounterWalk walk;
  walk.page_size_bytes_ = page_size_bytes;
  walk.chosen_ = &chosen;
  walk.last_ = last;
  base::Result<Statement> counters =
      database.prepare(in_order("proc_counter", kCounterColumns));
  if (!counters) return counters.error();
  base::Result<Statement> states =
      database.prepare(in_order("proc_status", kStatusColumns));
  if (!states) return states.error();
  walk.counters_.rows = std::move(*counters);
  walk.counters_.epoch_column = kFirstColumn + 2;
  walk.states_.rows = std::move(*states);
  walk.states_.epoch_column = kFirstColumn + 6;
  for (Cursor* cursor : {&walk.counters_, &walk.states_}) {
    cursor->rows.bind(0, first / kTicksPerEpoch);
    cursor->rows.bind(1, last / kTicksPerEpoch);
    base::Status status = cursor->step();
    if (!status) return status.error();
  }
  return walk;
}

void CounterWalk::begin(int64_t process, const model::Process& known) {
  model::Process& now = known_[process];
  now.status = known.status;
  now.statm = known.statm;
  now.state = known.state;
}

base::Status CounterWalk::Cursor::step() {
  base::Result<bool> row = rows.step();
  if (!row) return row.error();
  epoch = *row ? rows.integer(epoch_column) : kNoEpoch;
  return base::Ok{};
}

base::Status CounterWalk::load_epoch(int64_t epoch, Cursor& cursor) {
  const bool is_status = &cursor == &states_;
  while (cursor.epoch == epoch) {
    const Statement& rows = cursor.rows;
    Row row;
    row.process = rows.integer(0);
    // A damaged file may say anything.
    row.tick = epoch * kTicksPerEpoch +
               std::clamp<int64_t>(rows.integer(1), 0, kTicksPerEpoch - 1);
    row.is_status = is_status;
    if (is_status) {
      read_status(rows, row.known);
    } else {
      row.known.statm = statm_of(rows, page_size_bytes_);
    }
    if (chosen_->empty() || chosen_->contains(row.process)) {
      rows_.push_back(std::move(row));
    }
    base::Status status = cursor.step();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status CounterWalk::until(int64_t tick, const Visitor& visit) {
  while (true) {
    for (; next_row_ < rows_.size(); ++next_row_) {
      const Row& row = rows_[next_row_];
      if (row.tick > tick || row.tick > last_) return base::Ok{};
      model::Process& known = known_[row.process];
      if (row.is_status) {
        known.status = row.known.status;
        known.state = row.known.state;
      } else {
        known.statm = row.known.statm;
      }
      // Both rows of a tick make one change.
      const bool is_half = next_row_ + 1 < rows_.size() &&
                           rows_[next_row_ + 1].tick == row.tick &&
                           rows_[next_row_ + 1].process == row.process;
      if (is_half) continue;
      visit(row.process, row.tick,
            model::resident_counters(known, page_size_bytes_));
    }
    const int64_t epoch = std::min(counters_.epoch, states_.epoch);
    if (epoch > std::min(tick, last_) / kTicksPerEpoch) return base::Ok{};
    rows_.clear();
    next_row_ = 0;
    base::Status status = load_epoch(epoch, counters_);
    if (status) status = load_epoch(epoch, states_);
    if (!status) return status;
    std::ranges::stable_sort(rows_, {}, [](const Row& row) {
      return std::pair(row.tick, row.process);
    });
  }
}

base::Result<std::optional<model::ResidentCounters>> counters_at(
    Database& database, uint64_t page_size_bytes, int64_t process,
    int64_t tick) {
  model::Process known;
  for (const bool is_status : {false, true}) {
    base::Result<Statement> rows =
        database.prepare(is_status ? newest("proc_status", kStatusColumns)
                                   : newest("proc_counter", kCounterColumns));
    if (!rows) return rows.error();
    rows->bind(0, base_of(tick) / kTicksPerEpoch);
    rows->bind(1, tick / kTicksPerEpoch);
    rows->bind(2, process);
    rows->bind(3, tick);
    base::Status read = for_each(*rows, [&] {
      if (is_status) {
        read_status(*rows, known);
      } else {
        known.statm = statm_of(*rows, page_size_bytes);
      }
    });
    if (!read) return read.error();
  }
  return model::resident_counters(known, page_size_bytes);
}

}  // namespace tidemark::store
