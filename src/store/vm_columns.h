// What of a virtual machine stands in which column, once for both directions:
// each function hands its columns in order to one that puts them into a row or
// takes them from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/vm.h"
#include "store/interned.h"

namespace tidemark::store {

enum class VmTable : uint8_t { Vm, Guest, Process, Memory, Image };
inline constexpr size_t kVmTableCount = 5;

using VmRow = std::vector<std::optional<int64_t>>;

// Fills a row. The first failure to write a word is kept.
class VmRowMaker {
 public:
  explicit VmRowMaker(Interned& interned) : interned_(interned) {}

  void number(const std::optional<uint64_t>& value);
  void number(uint64_t value) { number(std::optional<uint64_t>(value)); }
  void flag(bool value) { number(value ? 1 : 0); }
  void flag(const std::optional<bool>& value);
  void text(std::string_view value) { row_.emplace_back(id_of(value)); }
  void reading(const model::Reading<uint64_t>& value);
  void fields(const model::Reading<model::SmapsFields>& value);
  template <typename T>
  void token(T value, std::string_view (*name)(T), T /*last*/) {
    text(name(value));
  }

  base::Result<VmRow> take() &&;

 private:
  int64_t id_of(std::string_view value);

  Interned& interned_;
  VmRow row_;
  base::Status status_ = base::Ok{};
};

// Takes one apart. What no writer of ours has written makes it insane.
class VmRowTaker {
 public:
  // The word of a number; empty where there is none.
  using Words = std::function<std::optional<std::string>(int64_t)>;
  VmRowTaker(const VmRow& row, const Words& words) : row_(row), words_(words) {}

  void number(std::optional<uint64_t>& value);
  void number(uint64_t& value);
  void flag(bool& value);
  void flag(std::optional<bool>& value);
  void text(std::string& value);
  void reading(model::Reading<uint64_t>& value);
  void fields(model::Reading<model::SmapsFields>& value);
  template <typename T>
  void token(T& value, std::string_view (*name)(T), T last) {
    std::string word;
    text(word);
    for (uint8_t i = 0; i <= static_cast<uint8_t>(last); ++i) {
      if (name(static_cast<T>(i)) != word) continue;
      value = static_cast<T>(i);
      return;
    }
    is_sane_ = false;
  }

  bool is_sane() const { return is_sane_ && at_ == row_.size(); }

 private:
  std::optional<int64_t> next();
  std::string word_of(int64_t id);

  const VmRow& row_;
  const Words& words_;
  size_t at_ = 0;
  bool is_sane_ = true;
};

template <typename Columns, typename Vm>
void pass_vm(Columns& columns, Vm& vm) {
  columns.token(vm.kind, &model::vm_kind_token, model::VmKind::Other);
  columns.text(vm.name);
  columns.text(vm.uuid);
  columns.text(vm.cgroup_path);
  columns.flag(vm.holds_kvm);
  columns.number(vm.detail_monotonic_ns);
  columns.token(vm.ram.means, &model::ram_means_token, model::RamMeans::Shared);
  columns.token(vm.ram.resident_means, &model::resident_means_token,
                model::ResidentMeans::Smaps);
  columns.text(vm.ram.backing);
  columns.reading(vm.ram.configured_bytes);
  columns.reading(vm.ram.resident_bytes);
  columns.reading(vm.ram.swapped_bytes);
  columns.reading(vm.ram.hugetlb_bytes);
  columns.reading(vm.ram.thp_bytes);
  columns.reading(vm.ram.ksm_bytes);
  columns.reading(vm.ram.ksm_saved_bytes);
}

template <typename Columns, typename Guest>
void pass_guest(Columns& columns, Guest& guest) {
  columns.token(guest.state, &model::guest_state_token,
                model::GuestState::Failed);
  columns.text(guest.because);
  columns.text(guest.source);
  columns.number(guest.updated_realtime_s);
  columns.number(guest.polling_interval_s);
  columns.number(guest.configured_bytes);
  columns.number(guest.balloon_bytes);
  columns.flag(guest.balloon_is_moving);
  columns.flag(guest.deflates_on_oom);
  columns.flag(guest.reports_free_pages);
  columns.number(guest.asked_ns);
  for (auto& value : guest.stats.values)
    columns.number(value);
}

template <typename Columns, typename Process>
void pass_process(Columns& columns, Process& process) {
  columns.text(process.name);
  columns.token(process.role, &model::vm_role_token, model::VmRole::Sharer);
  columns.number(process.rss_bytes);
  columns.number(process.page_table_bytes);
}

template <typename Columns, typename Image>
void pass_image(Columns& columns, Image& image) {
  columns.number(image.size_bytes);
  columns.reading(image.cached_bytes);
}

}  // namespace tidemark::store
