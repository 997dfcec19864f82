#include "model/smaps_fields.h"

namespace tidemark::model {
namespace {

std::optional<uint64_t> sum(const SmapsFields& fields, SmapsField a,
                            SmapsField b) {
  if (!fields.has(a) && !fields.has(b)) return std::nullopt;
  return fields.get_or_zero(a) + fields.get_or_zero(b);
}

}  // namespace

void SmapsFields::add(const SmapsFields& other) {
  for (size_t i = 0; i < kSmapsFieldCount; ++i) {
    const auto field = static_cast<SmapsField>(i);
    if (field == SmapsField::KernelPageSize ||
        field == SmapsField::MmuPageSize || !other.has(field)) {
      continue;
    }
    set(field, get_or_zero(field) + other.get_or_zero(field));
  }
}

std::optional<uint64_t> uss_bytes(const SmapsFields& fields) {
  return sum(fields, SmapsField::PrivateClean, SmapsField::PrivateDirty);
}

std::optional<uint64_t> shared_bytes(const SmapsFields& fields) {
  return sum(fields, SmapsField::SharedClean, SmapsField::SharedDirty);
}

std::optional<uint64_t> hugetlb_bytes(const SmapsFields& fields) {
  return sum(fields, SmapsField::SharedHugetlb, SmapsField::PrivateHugetlb);
}

std::optional<uint64_t> in_ram_bytes(const SmapsFields& fields) {
  std::optional<uint64_t> pss = fields.get(SmapsField::Pss);
  if (!pss) return std::nullopt;
  return *pss + hugetlb_bytes(fields).value_or(0);
}

}  // namespace tidemark::model
