#include "model/guest_ram.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/arithmetic.h"

namespace tidemark::model {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr std::string_view kMemfd = "/memfd:";

// QEMU, crosvm (whose tests rely on it), cloud-hypervisor, Firecracker.
constexpr std::array<std::string_view, 4> kRamMemfds = {
    "memory-backend-memfd", "crosvm_guest", "ch_ram", "guest_mem"};

std::string_view without_deleted(std::string_view name) {
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  return name;
}

// In a folder QEMU makes a file of its own, which it unlinks at once.
bool is_named_path(std::string_view name, const RamHints& hints) {
  for (std::string_view path : hints.paths) {
    while (path.size() > 1 && path.ends_with('/'))
      path.remove_suffix(1);
    if (name == path) return true;
    if (name.starts_with(path) &&
        name.substr(path.size()).starts_with("/qemu_back_mem.")) {
      return true;
    }
  }
  return false;
}

bool is_ram_by_name(const Mapping& mapping, const RamHints& hints) {
  if (!mapping.is_file() || mapping.is_inaccessible()) return false;
  const std::string_view name = without_deleted(mapping.name);
  if (name.starts_with(kMemfd)) {
    return std::ranges::find(kRamMemfds, name.substr(kMemfd.size())) !=
           kRamMemfds.end();
  }
  return is_named_path(name, hints);
}

// RAM that no file is behind has no name either.
bool could_be_anonymous_ram(const Mapping& mapping) {
  return !mapping.is_file() && mapping.name.empty() &&
         mapping.permissions.read && mapping.permissions.write &&
         !mapping.permissions.execute;
}

RamObject object_of(const Mapping& mapping) {
  return {mapping.device_major, mapping.device_minor, mapping.inode_id,
          mapping.name};
}

// A part that is mapped twice is there once.
uint64_t covered_bytes(const std::vector<Mapping>& mappings,
                       const std::vector<size_t>& indices) {
  using Object = std::tuple<uint32_t, uint32_t, uint64_t>;
  std::map<Object, std::vector<std::pair<uint64_t, uint64_t>>> ranges;
  for (size_t index : indices) {
    const Mapping& mapping = mappings[index];
    ranges[{mapping.device_major, mapping.device_minor, mapping.inode_id}]
        .emplace_back(mapping.offset_bytes,
                      mapping.offset_bytes + mapping.size_bytes());
  }
  uint64_t covered = 0;
  for (auto& [object, parts] : ranges) {
    std::ranges::sort(parts);
    uint64_t end = 0;
    for (const auto& [from, to] : parts) {
      if (to <= end) continue;
      covered += to - std::max(from, end);
      end = to;
    }
  }
  return covered;
}

std::string backing_of(const Mapping& mapping) {
  const std::string_view name = without_deleted(mapping.name);
  const bool is_huge = (mapping.vm_flags & vm_flag_bit("ht")) != 0;
  std::string backing = is_huge ? "hugetlb " : "";
  if (name.starts_with(kMemfd)) {
    return backing + "memfd " + std::string(name.substr(kMemfd.size()));
  }
  return backing + "file " + std::string(name);
}

// The first names what backs it.
void add_object(const Mapping& mapping, FoundRam& found) {
  RamObject object = object_of(mapping);
  if (std::ranges::find(found.objects, object) != found.objects.end()) return;
  if (found.objects.empty()) found.backing = backing_of(mapping);
  found.objects.push_back(std::move(object));
}

FoundRam found_by_name(const std::vector<Mapping>& mappings,
                       const RamHints& hints) {
  FoundRam found;
  for (size_t i = 0; i < mappings.size(); ++i) {
    if (!is_ram_by_name(mappings[i], hints)) continue;
    found.indices.push_back(i);
    add_object(mappings[i], found);
  }
  if (found.indices.empty()) return found;
  found.means = RamMeans::Name;
  found.configured_bytes = covered_bytes(mappings, found.indices);
  return found;
}

// The mappings from `first` on that lie next to each other, could be RAM by
// `could_be` and have exactly that size together; none otherwise.
template <typename CouldBe>
std::span<const Mapping> run_of_size(const std::vector<Mapping>& mappings,
                                     size_t first, uint64_t size_bytes,
                                     const CouldBe& could_be) {
  uint64_t sum = 0;
  for (size_t i = first; i < mappings.size(); ++i) {
    const bool follows =
        i == first || mappings[i].start_address == mappings[i - 1].end_address;
    if (!follows || !could_be(mappings[i])) return {};
    sum += mappings[i].size_bytes();
    if (sum == size_bytes)
      return std::span(mappings).subspan(first, i - first + 1);
    if (sum > size_bytes) return {};
  }
  return {};
}

// The first that is not taken yet, and begins where it should.
template <typename CouldBe>
bool take_block(const std::vector<Mapping>& mappings, const RamBlock& block,
                const CouldBe& could_be, FoundRam& found) {
  for (size_t i = 0; i < mappings.size(); ++i) {
    const uint64_t start = mappings[i].start_address;
    if (start != block.address.value_or(start)) continue;
    if (std::ranges::find(found.indices, i) != found.indices.end()) continue;
    const std::span<const Mapping> run =
        run_of_size(mappings, i, block.bytes, could_be);
    if (run.empty()) continue;
    for (size_t k = 0; k < run.size(); ++k)
      found.indices.push_back(i + k);
    found.areas.push_back({block.bytes, start});
    return true;
  }
  return false;
}

// All sizes or none: RAM that is found in part would be a wrong number.
FoundRam found_by_sizes(const std::vector<Mapping>& mappings,
                        const std::vector<uint64_t>& sizes) {
  FoundRam found;
  uint64_t total = 0;
  for (uint64_t size_bytes : sizes) {
    const bool is_taken =
        size_bytes != 0 && take_block(mappings, {size_bytes, std::nullopt},
                                      could_be_anonymous_ram, found);
    if (!is_taken) return {};
    total += size_bytes;
  }
  if (found.indices.empty()) return found;
  std::ranges::sort(found.indices);
  found.means = RamMeans::Size;
  found.backing = "anonymous memory";
  found.configured_bytes = total;
  return found;
}

// What lies behind its parts: RAM that was plugged in may be of another kind.
void describe_blocks(const std::vector<Mapping>& mappings, FoundRam& found) {
  constexpr const char* kAnonymous = "anonymous memory";
  bool has_anonymous = false;
  for (size_t index : found.indices) {
    if (mappings[index].is_file()) {
      add_object(mappings[index], found);
    } else {
      has_anonymous = true;
    }
  }
  if (has_anonymous) {
    found.backing += found.backing.empty() ? "" : " and ";
    found.backing += kAnonymous;
  }
}

// One without an address could take the place of one that has it.
std::vector<RamBlock> with_addresses_first(std::vector<RamBlock> blocks) {
  std::ranges::stable_sort(blocks, std::greater<>(), [](const RamBlock& block) {
    return block.address.has_value();
  });
  return blocks;
}

FoundRam found_by_blocks(const std::vector<Mapping>& mappings,
                         const RamHints& hints) {
  const auto could_be_block = [&](const Mapping& mapping) {
    return could_be_anonymous_ram(mapping) || is_ram_by_name(mapping, hints);
  };
  FoundRam found;
  for (const RamBlock& block : with_addresses_first(hints.blocks)) {
    const bool is_taken =
        block.bytes != 0 && take_block(mappings, block, could_be_block, found);
    if (!is_taken) return {};
  }
  std::ranges::sort(found.indices);
  describe_blocks(mappings, found);
  found.means = RamMeans::Block;
  found.configured_bytes = sum_bytes(hints.blocks);
  return found;
}

FoundRam found_by_being_largest(const std::vector<Mapping>& mappings) {
  uint64_t sum = 0;
  size_t largest = 0;
  uint64_t largest_bytes = 0;
  for (size_t i = 0; i < mappings.size(); ++i) {
    if (!could_be_anonymous_ram(mappings[i])) continue;
    const uint64_t bytes = mappings[i].size_bytes();
    sum += bytes;
    if (bytes <= largest_bytes) continue;
    largest = i;
    largest_bytes = bytes;
  }
  // Thread stacks are 8 MiB, malloc's arenas 64 MiB: a smaller area may be one.
  constexpr uint64_t kLeastBytes = uint64_t{64} << 20;
  if (largest_bytes <= kLeastBytes || largest_bytes <= sum / 2) return {};
  return {
      RamMeans::Largest, "anonymous memory", {largest}, {}, largest_bytes, {}};
}

}  // namespace

uint64_t sum_bytes(const std::vector<RamBlock>& blocks) {
  uint64_t sum = 0;
  for (const RamBlock& block : blocks)
    sum = base::saturating_sum(sum, block.bytes);
  return sum;
}

FoundRam find_guest_ram(const std::vector<Mapping>& mappings,
                        const RamHints& hints) {
  FoundRam found = found_by_name(mappings, hints);
  const bool is_whole =
      hints.blocks.empty() || found.configured_bytes == sum_bytes(hints.blocks);
  if (!is_whole) {
    FoundRam by_blocks = found_by_blocks(mappings, hints);
    if (by_blocks.means != RamMeans::None) return by_blocks;
  }
  if (found.means != RamMeans::None) return found;
  if (hints.total_bytes) {
    found = found_by_sizes(mappings, {*hints.total_bytes});
    if (found.means != RamMeans::None) return found;
  }
  found = found_by_sizes(mappings, hints.part_bytes);
  if (found.means != RamMeans::None) return found;
  return found_by_being_largest(mappings);
}

bool are_same_blocks(std::vector<RamBlock> found,
                     const std::vector<RamBlock>& told) {
  for (const RamBlock& block : with_addresses_first(told)) {
    const auto same = std::ranges::find_if(found, [&](const RamBlock& area) {
      return area.bytes == block.bytes &&
             (!block.address || area.address == block.address);
    });
    if (same == found.end()) return false;
    found.erase(same);
  }
  return found.empty();
}

bool is_of_object(const Mapping& mapping, const RamObject& object) {
  return mapping.is_file() && object_of(mapping) == object;
}

}  // namespace tidemark::model
