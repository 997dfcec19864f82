#include "store/vm_columns.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "store/smaps_columns.h"

namespace tidemark::store {
namespace {

using model::Reading;
using model::SmapsField;
using model::SmapsFields;

bool is_column_field(SmapsField field) {
  return field == SmapsField::Rss ||
         std::ranges::find(kColumnFields, field) != std::end(kColumnFields);
}

std::string_view label_of(size_t field) {
  return model::kSmapsLabels[field].kernel_label;
}

// "Size 12 KSM 0": zeros too, since absent is not zero. They are nearly always
// the same, so the text is written once.
std::string fields_without_column(const SmapsFields& fields) {
  std::string text;
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    const auto field = static_cast<SmapsField>(i);
    const std::optional<uint64_t> bytes = fields.get(field);
    if (!bytes || is_column_field(field)) continue;
    if (!text.empty()) text += ' ';
    text +=
        std::string(label_of(i)) + " " + std::to_string(*bytes / base::kKib);
  }
  return text;
}

bool take_fields(std::string_view text, SmapsFields& fields) {
  while (true) {
    const std::string_view label = base::take_word(text);
    if (label.empty()) return true;
    const std::optional<uint64_t> kib = base::parse_u64(base::take_word(text));
    if (!kib) return false;
    for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
      if (label_of(i) != label) continue;
      fields.set(static_cast<SmapsField>(i), *kib * base::kKib);
    }
  }
}

}  // namespace

void VmRowMaker::number(const std::optional<uint64_t>& value) {
  row_.push_back(value ? std::optional<int64_t>(static_cast<int64_t>(*value))
                       : std::nullopt);
}

void VmRowMaker::flag(const std::optional<bool>& value) {
  row_.push_back(value ? std::optional<int64_t>(*value ? 1 : 0) : std::nullopt);
}

int64_t VmRowMaker::id_of(std::string_view value) {
  base::Result<int64_t> id = interned_.text(value);
  if (id) return *id;
  if (status_) status_ = id.error();
  return 0;
}

// Sizes are far from using up the sign, so it tells a reason from a size.
void VmRowMaker::reading(const Reading<uint64_t>& value) {
  row_.emplace_back(value ? static_cast<int64_t>(*value)
                          : -id_of(value.unknown_because));
}

void VmRowMaker::fields(const Reading<SmapsFields>& value) {
  row_.push_back(value ? std::nullopt
                       : std::optional<int64_t>(id_of(value.unknown_because)));
  const SmapsFields fields = value ? *value : SmapsFields();
  const auto put = [&](SmapsField field) {
    const std::optional<uint64_t> bytes = fields.get(field);
    number(bytes ? std::optional<uint64_t>(*bytes / base::kKib) : std::nullopt);
  };
  put(SmapsField::Rss);
  for (SmapsField field : kColumnFields)
    put(field);
  text(fields_without_column(fields));
}

base::Result<VmRow> VmRowMaker::take() && {
  if (!status_) return status_.error();
  return std::move(row_);
}

std::optional<int64_t> VmRowTaker::next() {
  if (at_ < row_.size()) return row_[at_++];
  is_sane_ = false;
  return std::nullopt;
}

std::string VmRowTaker::word_of(int64_t id) {
  std::optional<std::string> word = words_(id);
  if (!word) is_sane_ = false;
  return word.value_or("");
}

void VmRowTaker::number(std::optional<uint64_t>& value) {
  const std::optional<int64_t> found = next();
  if (found) value = static_cast<uint64_t>(*found);
}

void VmRowTaker::number(uint64_t& value) {
  std::optional<uint64_t> found;
  number(found);
  is_sane_ = is_sane_ && found.has_value();
  value = found.value_or(0);
}

void VmRowTaker::flag(bool& value) {
  value = next().value_or(0) != 0;
}

void VmRowTaker::flag(std::optional<bool>& value) {
  if (const std::optional<int64_t> found = next()) value = *found != 0;
}

void VmRowTaker::text(std::string& value) {
  const std::optional<int64_t> id = next();
  is_sane_ = is_sane_ && id.has_value();
  if (id) value = word_of(*id);
}

void VmRowTaker::reading(Reading<uint64_t>& value) {
  const std::optional<int64_t> found = next();
  is_sane_ = is_sane_ && found.has_value();
  if (!found) return;
  if (*found >= 0) {
    value = model::known(static_cast<uint64_t>(*found));
    return;
  }
  // The smallest number has no positive twin, and no word is the 0th.
  const bool is_least = *found == std::numeric_limits<int64_t>::min();
  value = model::unknown<uint64_t>(word_of(is_least ? 0 : -*found));
}

void VmRowTaker::fields(Reading<SmapsFields>& value) {
  const std::optional<int64_t> because = next();
  SmapsFields fields;
  const auto take = [&](SmapsField field) {
    std::optional<uint64_t> kib;
    number(kib);
    if (kib) fields.set(field, *kib * base::kKib);
  };
  take(SmapsField::Rss);
  for (SmapsField field : kColumnFields)
    take(field);
  std::string rest;
  text(rest);
  is_sane_ = is_sane_ && take_fields(rest, fields);
  value = because ? model::unknown<SmapsFields>(word_of(*because))
                  : model::known(fields);
}

}  // namespace tidemark::store
