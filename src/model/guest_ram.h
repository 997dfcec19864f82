// Which mappings of a monitor are its guest's RAM. Everything else it maps is
// its own: the price of running the VM, not of what runs in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/mapping.h"
#include "model/vm.h"

namespace tidemark::model {

// What the command line tells of RAM, and the monitor when it is asked.
struct RamHints {
  std::optional<uint64_t> total_bytes;
  std::vector<uint64_t> part_bytes;  // of memory backends, where it names them
  std::vector<std::string> paths;    // of files or folders that back it
  std::vector<RamBlock> blocks;      // all of it, as the monitor tells
  bool operator==(const RamHints&) const = default;
};

// A memfd or file that is guest RAM, as maps tells it.
struct RamObject {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode_id = 0;
  std::string name;
  bool operator==(const RamObject&) const = default;
};

struct FoundRam {
  RamMeans means = RamMeans::None;
  std::string backing;
  std::vector<size_t> indices;     // of the mappings, ascending
  std::vector<RamObject> objects;  // none for anonymous memory
  std::optional<uint64_t> configured_bytes;
  std::vector<RamBlock> areas;  // where it was not found by name: its parts
};

// By name first: memfds that monitors name always alike, files the command line
// names. Where the monitor tells its blocks and names are not all of them, by
// these. Then an anonymous area of exactly the size asked for (the kernel may
// have split it, since advice and locks apply to parts), at last the largest
// anonymous one, if it is most of what the process has mapped so.
FoundRam find_guest_ram(const std::vector<Mapping>& mappings,
                        const RamHints& hints);

uint64_t sum_bytes(const std::vector<RamBlock>& blocks);

// Whether these are the same, and nothing beside: told ones may lack addresses.
bool are_same_blocks(std::vector<RamBlock> found,
                     const std::vector<RamBlock>& told);

bool is_of_object(const Mapping& mapping, const RamObject& object);

}  // namespace tidemark::model
