// Prints mappings as the kernel does (fs/proc/task_mmu.c), and arbitrary ones
// to print.
#pragma once

#include <rapidcheck.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "model/mapping.h"

namespace tidemark::test {

inline std::string printed(const char* format, auto... values) {
  std::string text(512, '\0');
  const int length = std::snprintf(text.data(), text.size(), format, values...);
  text.resize(static_cast<size_t>(length));
  return text;
}

inline std::string print_head(const model::Mapping& m) {
  std::string line = printed(
      "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ",
      static_cast<unsigned long long>(m.start_address),
      static_cast<unsigned long long>(m.end_address),
      m.permissions.read ? 'r' : '-', m.permissions.write ? 'w' : '-',
      m.permissions.execute ? 'x' : '-', m.permissions.shared ? 's' : 'p',
      static_cast<unsigned long long>(m.offset_bytes), m.device_major,
      m.device_minor, static_cast<unsigned long long>(m.inode_id));
  constexpr size_t kNameColumn = 73;
  if (!m.name.empty()) {
    if (line.size() < kNameColumn) line.resize(kNameColumn, ' ');
    line += m.name;
  }
  return line + "\n";
}

inline std::string print_kib(std::string_view label, uint64_t kib) {
  std::string line(label);
  line += ':';
  line.resize(std::max<size_t>(line.size(), 16), ' ');
  return line + printed("%8llu kB\n", static_cast<unsigned long long>(kib));
}

// The fields that are there, in the order of the enumeration.
inline std::string print_fields(const model::SmapsFields& fields) {
  std::string text;
  for (size_t i = 0; i < model::kSmapsFieldCount; ++i) {
    std::optional<uint64_t> bytes =
        fields.get(static_cast<model::SmapsField>(i));
    if (bytes) {
      text += print_kib(model::kSmapsLabels[i].kernel_label, *bytes / 1024);
    }
  }
  return text;
}

inline std::string print_block(const model::Mapping& m) {
  std::string text = print_head(m) + print_fields(m.fields) +
                     printed("THPeligible:    %8u\n", m.is_thp_eligible) +
                     "VmFlags: ";
  for (size_t i = 0; i < model::kVmFlagCount; ++i) {
    if (m.vm_flags >> i & 1) {
      text += std::string(model::kVmFlagNames[i]) + " ";
    }
  }
  return text + "\n";
}

inline std::string print_smaps(const std::vector<model::Mapping>& mappings) {
  std::string text;
  for (const model::Mapping& mapping : mappings)
    text += print_block(mapping);
  return text;
}

inline model::Mapping any_mapping(const std::vector<size_t>& fields) {
  model::Mapping m;
  m.start_address = *rc::gen::arbitrary<uint64_t>();
  m.end_address = m.start_address + *rc::gen::inRange<uint64_t>(0, 1 << 30);
  if (m.end_address < m.start_address)
    std::swap(m.start_address, m.end_address);
  m.permissions = {*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(),
                   *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
  m.offset_bytes = *rc::gen::arbitrary<uint64_t>();
  m.device_major = *rc::gen::inRange<uint32_t>(0, 4096);
  m.device_minor = *rc::gen::inRange<uint32_t>(0, 1 << 20);
  m.inode_id = *rc::gen::arbitrary<uint64_t>();
  m.name = *rc::gen::element<std::string>("", "[heap]", "[anon:x y]",
                                          "/a b (deleted)", "/two\\012lines",
                                          "/\xff\x1b[m ", "/memfd:x (deleted)");
  for (size_t field : fields) {
    // Now and then more than eight digits, which widen the line.
    const uint64_t kib = *rc::gen::oneOf(
        rc::gen::inRange<uint64_t>(0, 100), rc::gen::inRange<uint64_t>(0, 1e8),
        rc::gen::inRange<uint64_t>(99'999'990, 100'000'010),
        rc::gen::just(UINT64_MAX / 1024));
    m.fields.set(static_cast<model::SmapsField>(field), kib * 1024);
  }
  m.is_thp_eligible = *rc::gen::arbitrary<bool>();
  m.vm_flags =
      *rc::gen::inRange<uint64_t>(0, uint64_t{1} << model::kVmFlagCount);
  return m;
}

// Mappings of one process: as a kernel does it, all have the same fields, but
// for the rare one that has others.
inline std::vector<model::Mapping> any_mappings() {
  const auto fields = rc::gen::unique<std::vector<size_t>>(
      rc::gen::inRange<size_t>(0, model::kSmapsFieldCount));
  const std::vector<size_t> usual = *fields;
  const auto count = *rc::gen::inRange<size_t>(0, 8);
  std::vector<model::Mapping> mappings;
  for (size_t i = 0; i < count; ++i) {
    const bool is_unusual = *rc::gen::inRange(0, 5) == 0;
    mappings.push_back(any_mapping(is_unusual ? *fields : usual));
  }
  return mappings;
}

}  // namespace tidemark::test
