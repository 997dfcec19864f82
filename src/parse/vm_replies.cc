#include "parse/vm_replies.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "parse/malformed.h"

namespace tidemark::parse {
namespace {

using nlohmann::json;

// What a monitor calls a field; empty where it does not have it. crosvm and
// those that took its names differ only in the fields they lack.
struct FieldNames {
  std::string_view qmp;
  std::string_view crosvm;
  std::string_view firecracker;
  std::string_view cloud;
  std::string_view virsh;
};
using NameOf = std::string_view FieldNames::*;

constexpr FieldNames shared_name(std::string_view qmp, std::string_view shared,
                                 std::string_view virsh) {
  return {qmp, shared, shared, shared, virsh};
}

// In the order of GuestField.
constexpr std::array<FieldNames, model::kGuestFieldCount> kFieldNames = {{
    shared_name("stat-total-memory", "total_memory", "available"),
    shared_name("stat-free-memory", "free_memory", "unused"),
    shared_name("stat-available-memory", "available_memory", "usable"),
    shared_name("stat-disk-caches", "disk_caches", "disk_caches"),
    {"", "shared_memory", "", "", ""},
    {"", "unevictable_memory", "", "", ""},
    shared_name("stat-swap-in", "swap_in", "swap_in"),
    shared_name("stat-swap-out", "swap_out", "swap_out"),
    shared_name("stat-major-faults", "major_faults", "major_fault"),
    shared_name("stat-minor-faults", "minor_faults", "minor_fault"),
    shared_name("stat-htlb-pgalloc", "hugetlb_allocations", "hugetlb_pgalloc"),
    shared_name("stat-htlb-pgfail", "hugetlb_failures", "hugetlb_pgfail"),
    {"stat-oom-kills", "", "oom_kill", "oom_kills", ""},
    {"stat-alloc-stalls", "", "alloc_stall", "alloc_stalls", ""},
    {"stat-async-scans", "", "async_scan", "async_scans", ""},
    {"stat-direct-scans", "", "direct_scan", "direct_scans", ""},
    {"stat-async-reclaims", "", "async_reclaim", "async_reclaims", ""},
    {"stat-direct-reclaims", "", "direct_reclaim", "direct_reclaims", ""},
}};

const json* child(const json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

std::string text_of(const json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>()
                                                : "";
}

std::optional<uint64_t> count_of(const json* value) {
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<uint64_t>();
}

base::Result<json> object_in(std::string_view what, std::string_view text) {
  json root = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return malformed(what, text);
  return root;
}

base::Result<json> returned(std::string_view line) {
  base::Result<json> root = object_in("QMP", line);
  if (!root) return root.error();
  const json* value = child(*root, "return");
  if (value == nullptr) return malformed("QMP", line);
  return json(*value);
}

model::GuestStats stats_in(const json& object, NameOf name_of) {
  // Virtio keeps these in 64 bits, and all of them set means "not told".
  constexpr uint64_t kNotTold = std::numeric_limits<uint64_t>::max();
  model::GuestStats stats;
  for (size_t i = 0; i < kFieldNames.size(); ++i) {
    const std::string_view name = kFieldNames[i].*name_of;
    if (name.empty()) continue;
    const std::optional<uint64_t> value = count_of(child(object, name));
    if (value && *value != kNotTold) stats.values[i] = value;
  }
  return stats;
}

std::optional<uint64_t> address_in(std::string_view word) {
  if (!word.starts_with("0x")) return std::nullopt;
  return base::parse_hex(word.substr(2));
}

// "pc.ram    4 KiB  0x0 0x10000000 0x10000000 0x7f… rw": name, size of a page,
// offset, used, total, since QEMU 8 the address. Its head has no numbers.
std::optional<QmpRamBlock> ram_block_in(std::string_view line) {
  constexpr size_t kUsed = 4;
  constexpr size_t kAddress = 6;
  std::vector<std::string_view> words = base::split(base::trim(line), ' ');
  std::erase(words, "");
  if (words.size() <= kUsed) return std::nullopt;
  const std::optional<uint64_t> used = address_in(words[kUsed]);
  if (!used) return std::nullopt;
  QmpRamBlock found;
  found.name = base::base_name(words.front());
  found.block.bytes = *used;
  if (words.size() > kAddress)
    found.block.address = address_in(words[kAddress]);
  return found;
}

std::optional<bool> flag_of(const json* value) {
  if (value == nullptr || !value->is_boolean()) return std::nullopt;
  return value->get<bool>();
}

// Of the amounts virsh tells in KiB; the others are counts.
bool is_amount(size_t field) {
  using model::GuestField;
  return field <= static_cast<size_t>(GuestField::SwapOut);
}

}  // namespace

base::Result<QmpHead> parse_qmp_head(std::string_view line) {
  base::Result<json> root = object_in("QMP", line);
  if (!root) return root.error();
  QmpHead head;
  if (child(*root, "return") != nullptr) {
    head.message = QmpMessage::Return;
  } else if (const json* error = child(*root, "error")) {
    head.message = QmpMessage::Error;
    head.error_class = text_of(child(*error, "class"));
    head.description = text_of(child(*error, "desc"));
  } else if (child(*root, "QMP") != nullptr) {
    head.message = QmpMessage::Greeting;
  } else if (child(*root, "event") != nullptr) {
    head.message = QmpMessage::Event;
  } else {
    return malformed("QMP", line);
  }
  return head;
}

base::Result<uint64_t> parse_qmp_balloon(std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  const std::optional<uint64_t> actual = count_of(child(*value, "actual"));
  if (!actual) return malformed("query-balloon", line);
  return *actual;
}

base::Result<uint64_t> parse_qmp_memory_size(std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  const std::optional<uint64_t> base = count_of(child(*value, "base-memory"));
  const uint64_t plugged =
      count_of(child(*value, "plugged-memory")).value_or(0);
  if (!base || *base > std::numeric_limits<uint64_t>::max() - plugged) {
    return malformed("query-memory-size-summary", line);
  }
  return *base + plugged;
}

base::Result<std::vector<std::string>> parse_qmp_balloon_names(
    std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  if (!value->is_array()) return malformed("qom-list", line);
  std::vector<std::string> names;
  for (const json& entry : *value) {
    std::string name = text_of(child(entry, "name"));
    const bool is_balloon =
        text_of(child(entry, "type")).starts_with("child<virtio-balloon");
    if (is_balloon && !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

base::Result<std::vector<std::string>> parse_qmp_memory_devices(
    std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  if (!value->is_array()) return malformed("query-memdev", line);
  std::vector<std::string> names;
  for (const json& entry : *value) {
    std::string name = text_of(child(entry, "id"));
    if (!name.empty()) names.push_back(std::move(name));
  }
  return names;
}

base::Result<std::vector<QmpRamBlock>> parse_qmp_ram_blocks(
    std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  const std::string table = text_of(&*value);
  std::vector<QmpRamBlock> blocks;
  for (std::string_view rest = table; !rest.empty();) {
    if (auto block = ram_block_in(base::take_line(rest))) {
      blocks.push_back(std::move(*block));
    }
  }
  if (blocks.empty()) return malformed("info ramblock", line);
  return blocks;
}

base::Result<QmpHostAddress> parse_qmp_host_address(std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  const std::string text = text_of(&*value);
  std::string_view words = base::trim(text);
  const size_t open = words.find('(');
  const size_t close = words.rfind(") is ");
  if (open == std::string_view::npos || close == std::string_view::npos ||
      close < open) {
    return malformed("gpa2hva", line);
  }
  const std::optional<uint64_t> address = address_in(words.substr(close + 5));
  if (!address) return malformed("gpa2hva", line);
  return QmpHostAddress{std::string(words.substr(open + 1, close - open - 1)),
                        *address};
}

base::Result<bool> parse_qmp_flag(std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  if (!value->is_boolean()) return malformed("QMP", line);
  return value->get<bool>();
}

base::Result<uint64_t> parse_qmp_number(std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  const std::optional<uint64_t> number = count_of(&*value);
  if (!number) return malformed("QMP", line);
  return *number;
}

base::Result<QmpGuestStats> parse_qmp_guest_stats(std::string_view line) {
  base::Result<json> value = returned(line);
  if (!value) return value.error();
  const json* stats = child(*value, "stats");
  const std::optional<uint64_t> updated =
      count_of(child(*value, "last-update"));
  if (stats == nullptr || !stats->is_object() || !updated) {
    return malformed("guest-stats", line);
  }
  return QmpGuestStats{stats_in(*stats, &FieldNames::qmp), *updated};
}

base::Result<CrosvmBalloon> parse_crosvm_balloon(std::string_view packet) {
  base::Result<json> root = object_in("crosvm", packet);
  if (!root) return root.error();
  CrosvmBalloon balloon;
  if (const json* number = child(*root, "Err")) {
    if (!number->is_number_integer()) return malformed("crosvm", packet);
    balloon.error_number = number->get<int64_t>();
    return balloon;
  }
  balloon.error_text = text_of(child(*root, "ErrString"));
  if (balloon.is_error()) return balloon;
  const json* told = child(*root, "BalloonStats");
  if (told == nullptr) return malformed("crosvm", packet);
  const json* stats = child(*told, "stats");
  const std::optional<uint64_t> actual =
      count_of(child(*told, "balloon_actual"));
  if (stats == nullptr || !stats->is_object() || !actual) {
    return malformed("crosvm", packet);
  }
  balloon.stats = stats_in(*stats, &FieldNames::crosvm);
  balloon.balloon_bytes = *actual;
  return balloon;
}

base::Result<uint64_t> parse_firecracker_memory(std::string_view body) {
  base::Result<json> root = object_in("machine-config", body);
  if (!root) return root.error();
  const std::optional<uint64_t> mib = count_of(child(*root, "mem_size_mib"));
  constexpr uint64_t kMostMib = uint64_t{1} << 40;
  if (!mib || *mib > kMostMib) return malformed("machine-config", body);
  return *mib << 20;
}

base::Result<BalloonSettings> parse_firecracker_balloon(std::string_view body) {
  base::Result<json> root = object_in("balloon", body);
  if (!root) return root.error();
  if (child(*root, "amount_mib") == nullptr) return malformed("balloon", body);
  return BalloonSettings{flag_of(child(*root, "deflate_on_oom")),
                         flag_of(child(*root, "free_page_reporting")),
                         count_of(child(*root, "stats_polling_interval_s"))};
}

base::Result<BalloonTelling> parse_firecracker_stats(std::string_view body) {
  base::Result<json> root = object_in("balloon/statistics", body);
  if (!root) return root.error();
  const std::optional<uint64_t> pages = count_of(child(*root, "actual_pages"));
  constexpr uint64_t kMostPages = uint64_t{1} << 50;
  if (!pages || *pages > kMostPages) {
    return malformed("balloon/statistics", body);
  }
  return BalloonTelling{stats_in(*root, &FieldNames::firecracker),
                        *pages << 12};
}

base::Result<BalloonTelling> parse_cloud_stats(std::string_view body) {
  base::Result<json> root = object_in("vm.balloon-stats", body);
  if (!root) return root.error();
  const std::optional<uint64_t> actual =
      count_of(child(*root, "balloon_actual"));
  if (!actual) return malformed("vm.balloon-stats", body);
  const json* nested = child(*root, "stats");
  return BalloonTelling{
      stats_in(nested != nullptr ? *nested : *root, &FieldNames::cloud),
      *actual};
}

base::Result<CloudVm> parse_cloud_vm(std::string_view body) {
  base::Result<json> root = object_in("vm.info", body);
  if (!root) return root.error();
  const json* config = child(*root, "config");
  const json* memory = config != nullptr ? child(*config, "memory") : nullptr;
  const std::optional<uint64_t> size =
      memory != nullptr ? count_of(child(*memory, "size")) : std::nullopt;
  if (!size) return malformed("vm.info", body);
  CloudVm vm;
  vm.configured_bytes = *size;
  vm.actual_bytes = count_of(child(*root, "memory_actual_size"));
  const json* balloon = child(*config, "balloon");
  vm.has_balloon = balloon != nullptr && balloon->is_object();
  if (vm.has_balloon) {
    vm.settings.deflates_on_oom = flag_of(child(*balloon, "deflate_on_oom"));
    vm.settings.reports_free_pages =
        flag_of(child(*balloon, "free_page_reporting"));
  }
  return vm;
}

base::Result<VirshBalloon> parse_virsh_balloon(std::string_view text) {
  constexpr std::string_view kPrefix = "balloon.";
  constexpr uint64_t kMostKib = std::numeric_limits<int64_t>::max() / 1024;
  VirshBalloon found;
  bool has_any = false;
  while (!text.empty()) {
    std::string_view line = base::trim(base::take_line(text));
    if (!line.starts_with(kPrefix)) continue;
    line.remove_prefix(kPrefix.size());
    const std::string_view whole = line;
    const std::string_view name = base::take_until(line, '=');
    const auto known = std::ranges::find(kFieldNames, name, &FieldNames::virsh);
    const bool is_ours = known != kFieldNames.end() || name == "maximum" ||
                         name == "current" || name == "last-update";
    if (name.empty() || !is_ours) continue;
    const std::optional<uint64_t> value = base::parse_u64(line);
    if (!value || *value > kMostKib) return malformed("virsh", whole);
    has_any = true;
    if (name == "maximum") {
      found.maximum_bytes = *value * 1024;
    } else if (name == "current") {
      found.current_bytes = *value * 1024;
    } else if (name == "last-update") {
      found.updated_realtime_s = *value;
    } else {
      const auto field = static_cast<size_t>(known - kFieldNames.begin());
      found.stats.values[field] = is_amount(field) ? *value * 1024 : *value;
    }
  }
  if (!has_any) return malformed("virsh", text);
  return found;
}

}  // namespace tidemark::parse
