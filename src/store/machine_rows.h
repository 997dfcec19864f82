// Which column of machine_sample and cgroup_sample holds which field, for the
// writer and the reader alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "model/machine.h"

namespace tidemark::store {

inline constexpr size_t kMachineColumns = 40;  // behind the tick
using MachineRow = std::array<std::optional<int64_t>, kMachineColumns>;
MachineRow machine_row(const model::Machine& machine);
void fill_machine(const MachineRow& row, model::Machine& machine);

inline constexpr size_t kCgroupColumns = 15;  // behind the key
using CgroupRow = std::array<std::optional<int64_t>, kCgroupColumns>;
CgroupRow cgroup_row(const model::Cgroup& cgroup);
void fill_cgroup(const CgroupRow& row, model::Cgroup& cgroup);

}  // namespace tidemark::store
