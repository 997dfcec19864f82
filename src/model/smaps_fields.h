// The per-mapping counters of /proc/PID/smaps and smaps_rollup. Kernels differ
// in which they print (Pss_Dirty came in 6.0, KSM in 6.8; Pss_Anon, Pss_File
// and Pss_Shmem are in the rollup only), so presence is kept per field: a zero
// the kernel printed is not the same as a line it never wrote.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::model {

enum class SmapsField : uint8_t {
  Size,
  KernelPageSize,
  MmuPageSize,
  Rss,
  Pss,
  PssDirty,
  PssAnon,
  PssFile,
  PssShmem,
  SharedClean,
  SharedDirty,
  PrivateClean,
  PrivateDirty,
  Referenced,
  Anonymous,
  Ksm,
  LazyFree,
  AnonHugePages,
  ShmemPmdMapped,
  FilePmdMapped,
  SharedHugetlb,
  PrivateHugetlb,
  Swap,
  SwapPss,
  Locked,
};

inline constexpr size_t kSmapsFieldCount = 25;

struct SmapsLabel {
  std::string_view kernel_label;  // as the kernel spells it, without the colon
  std::string_view json_name;     // ours, with the unit
};

// Indexed by SmapsField.
inline constexpr std::array<SmapsLabel, kSmapsFieldCount> kSmapsLabels = {{
    {"Size", "size_bytes"},
    {"KernelPageSize", "kernel_page_size_bytes"},
    {"MMUPageSize", "mmu_page_size_bytes"},
    {"Rss", "rss_bytes"},
    {"Pss", "pss_bytes"},
    {"Pss_Dirty", "pss_dirty_bytes"},
    {"Pss_Anon", "pss_anon_bytes"},
    {"Pss_File", "pss_file_bytes"},
    {"Pss_Shmem", "pss_shmem_bytes"},
    {"Shared_Clean", "shared_clean_bytes"},
    {"Shared_Dirty", "shared_dirty_bytes"},
    {"Private_Clean", "private_clean_bytes"},
    {"Private_Dirty", "private_dirty_bytes"},
    {"Referenced", "referenced_bytes"},
    {"Anonymous", "anonymous_bytes"},
    {"KSM", "ksm_bytes"},
    {"LazyFree", "lazy_free_bytes"},
    {"AnonHugePages", "anon_huge_pages_bytes"},
    {"ShmemPmdMapped", "shmem_pmd_mapped_bytes"},
    {"FilePmdMapped", "file_pmd_mapped_bytes"},
    {"Shared_Hugetlb", "shared_hugetlb_bytes"},
    {"Private_Hugetlb", "private_hugetlb_bytes"},
    {"Swap", "swap_bytes"},
    {"SwapPss", "swap_pss_bytes"},
    {"Locked", "locked_bytes"},
}};

// A class, because the presence bits and the values must move together.
class SmapsFields {
 public:
  void set(SmapsField field, uint64_t bytes) {
    bytes_[index(field)] = bytes;
    present_ |= 1U << index(field);
  }
  bool has(SmapsField field) const { return (present_ >> index(field)) & 1; }
  std::optional<uint64_t> get(SmapsField field) const {
    if (!has(field)) return std::nullopt;
    return bytes_[index(field)];
  }
  // For sums over fields a kernel may not print: absent adds nothing.
  uint64_t get_or_zero(SmapsField field) const { return bytes_[index(field)]; }
  void clear() { *this = SmapsFields(); }
  // Adds field by field. Page sizes are not quantities and are left alone.
  void add(const SmapsFields& other);

  bool operator==(const SmapsFields&) const = default;

 private:
  static size_t index(SmapsField field) { return static_cast<size_t>(field); }

  std::array<uint64_t, kSmapsFieldCount> bytes_{};
  uint32_t present_ = 0;
};

// Pages only this process maps. hugetlb is apart from it in the kernel's
// account, and here too.
std::optional<uint64_t> uss_bytes(const SmapsFields& fields);

// Pages some other process maps as well, at full size (not proportional).
std::optional<uint64_t> shared_bytes(const SmapsFields& fields);

// hugetlb pages are in neither Rss nor Pss, hence added to both by hand.
std::optional<uint64_t> hugetlb_bytes(const SmapsFields& fields);

// The headline: PSS plus huge pages.
std::optional<uint64_t> in_ram_bytes(const SmapsFields& fields);

}  // namespace tidemark::model
