#include "store/change_walk.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "store/schema.h"
#include "store/smaps_columns.h"

namespace tidemark::store {
namespace {

using model::SmapsField;

// More than any machine has, and small enough that sums of it are numbers.
constexpr int64_t kMostKib = int64_t{1} << 42;
constexpr int64_t kMostAddressKib = int64_t{1} << 54;

bool is_sane(int64_t kib) {
  return kib >= ChangeRow::kUnknown && kib <= kMostKib;
}

static_assert(std::size(kColumnFields) == ChangeRow::kFieldCount);

constexpr std::string_view kNumbers =
    "c.epoch, c.process, c.tick, c.no, c.trait, c.size, c.pss, c.pss_dirty, "
    "c.shared_clean, c.shared_dirty, c.private_clean, c.private_dirty, "
    "c.referenced, c.anonymous, c.swap, c.rss";

// The same without what no sum needs: pss_dirty, referenced.
constexpr std::string_view kSumNumbers =
    "c.epoch, c.process, c.tick, c.no, c.trait, c.size, c.pss, NULL, "
    "c.shared_clean, c.shared_dirty, c.private_clean, c.private_dirty, "
    "NULL, c.anonymous, c.swap, c.rss";

// Of kNumbers.
constexpr size_t kNumberCount = 16;
// The first of them.
constexpr std::string_view kKey = "c.epoch, c.process, c.tick, c.no";
constexpr size_t kKeyCount = 4;
static_assert(kNumbers.starts_with(kKey) && kSumNumbers.starts_with(kKey));
using Numbers = std::span<const int64_t, kNumberCount>;

// False for what no kernel has said and no writer has written.
bool fill_row(Numbers numbers, ChangeRow& row) {
  const auto number = [&](size_t column, int64_t otherwise) {
    const int64_t value = numbers[column];
    return value == Database::kNull ? otherwise : value;
  };
  const int64_t tick_in_epoch = number(2, 0);
  row.process = number(1, 0);
  row.tick = number(0, 0) * kTicksPerEpoch +
             std::clamp<int64_t>(tick_in_epoch, 0, kTicksPerEpoch);
  row.no = number(3, 0);
  row.trait = number(4, 0);
  row.size_kib = number(5, 0);
  for (size_t i = 0; i < ChangeRow::kFieldCount; ++i)
    row.fields_kib[i] = number(6 + i, ChangeRow::kUnknown);
  if (numbers[15] != Database::kNull) {
    row.rss_kib = numbers[15];
  } else if (row.fields_kib[5] == ChangeRow::kUnknown) {
    row.rss_kib = row.is_end() ? 0 : ChangeRow::kUnknown;
  } else {
    row.rss_kib = 0;
    for (size_t part : {2U, 3U, 4U, 5U})
      row.rss_kib += std::clamp<int64_t>(row.fields_kib[part], 0, kMostKib);
  }
  return tick_in_epoch >= 0 && tick_in_epoch < kTicksPerEpoch &&
         row.size_kib >= 0 && row.size_kib <= kMostAddressKib &&
         is_sane(row.rss_kib) && std::ranges::all_of(row.fields_kib, is_sane);
}

bool take_row(const Statement& rows, ChangeRow& row) {
  std::array<int64_t, kNumberCount> numbers{};
  for (int i = 0; i < static_cast<int>(kNumberCount); ++i) {
    numbers[static_cast<size_t>(i)] =
        rows.maybe_integer(i).value_or(Database::kNull);
  }
  row.rare = rows.text(16);
  return fill_row(numbers, row);
}

// Without the join a filter by process would read the whole table.
constexpr std::string_view kOfOne =
    " FROM epoch e CROSS JOIN proc_change c ON c.epoch = e.id "
    "WHERE e.id BETWEEN ? AND ? AND c.process = ? ";
constexpr std::string_view kOfSome =
    " FROM epoch e CROSS JOIN proc_change c ON c.epoch = e.id "
    "WHERE e.id BETWEEN ? AND ? AND c.process BETWEEN ? AND ? ";
constexpr std::string_view kOfAll =
    " FROM proc_change c WHERE c.epoch BETWEEN ? AND ? ";

std::string sql_of(std::string_view from, std::string_view rest) {
  return "SELECT " + std::string(kNumbers) + ", c.rare" + std::string(from) +
         std::string(rest);
}

base::Error absurd(const std::string& path) {
  return base::fail(base::ErrorKind::Malformed,
                    path + ": damaged: a mapping of absurd size");
}

uint64_t flags_from(std::string_view text) {
  uint64_t flags = 0;
  while (true) {
    const std::string_view word = base::take_word(text);
    if (word.empty()) return flags;
    flags |= model::vm_flag_bit(word);
  }
}

std::optional<int64_t> maybe_rare_kib(const std::string& rare,
                                      std::string_view label) {
  const std::string wanted = "\"" + std::string(label) + "\":";
  const size_t at = rare.find(wanted);
  if (at == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(rare).substr(at + wanted.size());
  rest = rest.substr(0, rest.find_first_of(",}"));
  return std::clamp<int64_t>(base::parse_i64(rest).value_or(0), 0, kMostKib);
}

std::optional<int64_t> maybe_rare_kib(const std::string& rare,
                                      SmapsField field) {
  return maybe_rare_kib(
      rare, model::kSmapsLabels[static_cast<size_t>(field)].kernel_label);
}

std::optional<uint64_t> page_bytes(std::optional<int64_t> kib) {
  if (!kib) return std::nullopt;
  return static_cast<uint64_t>(*kib) * base::kKib;
}

}  // namespace

int64_t rare_kib(const std::string& rare, std::string_view label) {
  return maybe_rare_kib(rare, label).value_or(0);
}

PresentFields PresentFields::from(const std::vector<SmapsField>& printed) {
  const auto is_printed = [&](SmapsField field) {
    return std::ranges::find(printed, field) != printed.end();
  };
  PresentFields present;
  present.has_size = is_printed(SmapsField::Size);
  for (SmapsField field : kRareFields) {
    if (is_printed(field)) present.rare_zeros.set(field, 0);
  }
  return present;
}

void fill_fields(const ChangeRow& row, const PresentFields& present,
                 model::SmapsFields& fields) {
  const auto set = [&](SmapsField field, std::optional<int64_t> kib) {
    if (kib && *kib != ChangeRow::kUnknown) {
      fields.set(field, static_cast<uint64_t>(*kib) * base::kKib);
    }
  };
  const bool is_scan = row.pss_kib() == ChangeRow::kUnknown;
  if (!is_scan) fields = present.rare_zeros;
  if (!row.rare.empty()) {
    for (SmapsField field : kRareFields)
      set(field, maybe_rare_kib(row.rare, field));
    for (SmapsField field : kRollupFields)
      set(field, maybe_rare_kib(row.rare, field));
  }
  for (size_t i = 0; i < ChangeRow::kFieldCount; ++i)
    set(kColumnFields[i], row.fields_kib[i]);
  if (is_scan || present.has_size) set(SmapsField::Size, row.size_kib);
  set(SmapsField::Rss, row.rss_kib);
}

base::Result<std::map<int64_t, Trait>> read_traits(Database& database) {
  base::Result<Statement> rows = database.prepare(
      "SELECT id, permissions, vm_flags, kernel_page_size, mmu_page_size, "
      "thp_eligible, kind FROM proc_trait");
  if (!rows) return rows.error();
  std::map<int64_t, Trait> traits;
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return traits;
    Trait trait;
    trait.permissions = model::permissions_from_letters(rows->text(1));
    trait.vm_flags = flags_from(rows->text(2));
    trait.kernel_page_bytes = page_bytes(rows->maybe_integer(3));
    trait.mmu_page_bytes = page_bytes(rows->maybe_integer(4));
    trait.is_thp_eligible = rows->integer(5) != 0;
    trait.kind = model::region_kind_from_token(rows->text(6))
                     .value_or(model::RegionKind::Anonymous);
    traits.emplace(rows->integer(0), trait);
  }
}

// The rows of one epoch, put in order when it is complete.
struct ChangeWalk::Epoch {
  std::vector<ChangeRow> rows;  // kept for their memory
  size_t count = 0;             // of them in use
  std::vector<size_t> order;
  int64_t id = -1;
  int64_t last_tick = 0;  // later ones are not shown
  bool is_absurd = false;
  const std::function<void(const ChangeRow&)>* visit = nullptr;

  ChangeRow& next(int64_t epoch) {
    if (epoch != id) flush();
    id = epoch;
    if (count == rows.size()) rows.emplace_back();
    return rows[count++];
  }
  // Tick by tick, as they came within each.
  void flush() {
    std::array<size_t, kTicksPerEpoch + 1> ends{};
    for (size_t i = 0; i < count; ++i)
      ++ends[place_in_epoch(rows[i]) + 1];
    for (size_t i = 1; i < ends.size(); ++i)
      ends[i] += ends[i - 1];
    order.resize(count);
    for (size_t i = 0; i < count; ++i)
      order[ends[place_in_epoch(rows[i])]++] = i;
    for (size_t index : order) {
      if (rows[index].tick <= last_tick) (*visit)(rows[index]);
    }
    count = 0;
  }
  size_t place_in_epoch(const ChangeRow& row) const {
    return static_cast<size_t>(std::clamp<int64_t>(
        row.tick - id * kTicksPerEpoch, 0, kTicksPerEpoch - 1));
  }
};

ChangeWalk::ChangeWalk() : epoch_(std::make_unique<Epoch>()) {}
ChangeWalk::ChangeWalk(ChangeWalk&&) noexcept = default;
ChangeWalk& ChangeWalk::operator=(ChangeWalk&&) noexcept = default;
ChangeWalk::~ChangeWalk() = default;

base::Result<ChangeWalk> ChangeWalk::prepare(Database& database,
                                             std::optional<int64_t> process,
                                             ChangeColumns columns) {
  ChangeWalk walk;
  walk.path_ = database.path();
  Epoch* epoch = walk.epoch_.get();
  // Walks may be under way at the same time: each has a function of its own.
  const std::string take = database.unused_filter_name("take_epoch");
  base::Status status = database.set_filter(
      take, kNumberCount, [epoch](std::span<const int64_t> values) {
        ChangeRow& row = epoch->next(values[0]);
        row.rare.clear();
        epoch->is_absurd |= !fill_row(values.first<kNumberCount>(), row);
        return false;
      });
  if (!status) return status.error();
  const std::string filter =
      "AND CASE WHEN c.rare IS NULL THEN " + take + "(" +
      std::string(columns == ChangeColumns::All ? kNumbers : kSumNumbers) +
      ") ELSE 1 END ORDER BY c.epoch, c.process, c.tick, c.no";
  base::Result<Statement> rows =
      database.prepare(sql_of(process ? kOfOne : kOfAll, filter));
  if (!rows) return rows.error();
  walk.rows_ = std::move(*rows);
  if (process) walk.rows_.bind(2, *process);
  return walk;
}

base::Status ChangeWalk::walk(
    int64_t first, int64_t last,
    const std::function<void(const ChangeRow&)>& visit) {
  rows_.bind(0, first / kTicksPerEpoch);
  rows_.bind(1, last / kTicksPerEpoch);
  epoch_->count = 0;
  epoch_->id = -1;
  epoch_->last_tick = last;
  epoch_->is_absurd = false;
  epoch_->visit = &visit;
  while (true) {
    base::Result<bool> row = rows_.step();
    if (!row) return row.error();
    if (epoch_->is_absurd ||
        (*row && !take_row(rows_, epoch_->next(rows_.integer(0))))) {
      rows_.reset();
      return absurd(path_);
    }
    if (!*row) break;
  }
  epoch_->flush();
  return base::Ok{};
}

base::Status walk_newest_first(
    Database& database, ProcessRange processes, int64_t first, int64_t last,
    const std::function<bool(const ChangeKey&)>& is_wanted,
    const std::function<void(const ChangeRow&)>& visit) {
  // Who it is, and the rest where that is wanted.
  std::array<int64_t, kNumberCount> numbers{};
  base::Status status = database.set_filter(
      "is_wanted", kKeyCount, [&](std::span<const int64_t> key) {
        std::ranges::copy(key, numbers.begin());
        const int64_t tick = numbers[0] * kTicksPerEpoch + numbers[2];
        return tick <= last && is_wanted({numbers[1], tick, numbers[3]});
      });
  if (!status) return status;
  ChangeRow taken;
  bool is_absurd = false;
  status = database.set_filter("take_change", kNumberCount - kKeyCount,
                               [&](std::span<const int64_t> rest) {
                                 std::ranges::copy(rest,
                                                   numbers.begin() + kKeyCount);
                                 taken.rare.clear();
                                 is_absurd |= !fill_row(numbers, taken);
                                 if (!is_absurd) visit(taken);
                                 return false;
                               });
  if (!status) return status;
  // Ordered by what the loops run over, so that nothing is sorted. Only a row
  // with rare fields is left for the loop below.
  const std::string filter =
      "AND CASE WHEN NOT is_wanted(" + std::string(kKey) +
      ") THEN 0 WHEN c.rare IS NULL THEN take_change(" +
      std::string(kNumbers.substr(kKey.size() + 2)) +
      ") ELSE 1 END "
      "ORDER BY e.id DESC, c.process DESC, c.tick DESC, c.no DESC";
  base::Result<Statement> rows = database.prepare(sql_of(kOfSome, filter));
  if (!rows) return rows.error();
  rows->bind(0, first / kTicksPerEpoch);
  rows->bind(1, last / kTicksPerEpoch);
  rows->bind(2, processes.first);
  rows->bind(3, processes.last);
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (is_absurd) return absurd(database.path());
    if (!*row) return base::Ok{};
    if (!take_row(*rows, taken)) {
      return absurd(database.path());
    }
    visit(taken);
  }
}

}  // namespace tidemark::store
