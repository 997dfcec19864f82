// The table of VMs: which columns fit, and how a row is drawn.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/top_vms.h"
#include "model/category.h"
#include "view/tui/canvas.h"
#include "view/tui/look.h"

namespace tidemark::view::tui {

// In stack order, the colours as in the browser: what the guest uses, its
// caches, what its kernel keeps; held is free in the guest, so it is paper.
inline constexpr std::array<model::Category, analysis::kVmBandKindCount>
    kBandColours = {
        model::Category::Anon,     // guest used
        model::Category::File,     // guest caches
        model::Category::Wired,    // guest reserved
        model::Category::Free,     // free in the guest, held by the host
        model::Category::Unnamed,  // guest RAM that could not be told apart
        model::Category::Code,     // the monitor
        model::Category::Shm,      // helpers
        model::Category::Unnamed,  // neither
};

enum class VmColumn : uint8_t { Cost, Held, Used, Caches, Balloon, Ram, Name };
inline constexpr size_t kVmNumbers = 6;  // those before the name

struct VmColumnWords {
  VmColumn column;
  std::string_view head;  // as in `vm list`
};
inline constexpr VmColumnWords kVmColumns[] = {
    {VmColumn::Cost, "COST"},       {VmColumn::Held, "HELD"},
    {VmColumn::Used, "USED"},       {VmColumn::Caches, "CACHES"},
    {VmColumn::Balloon, "BALLOON"}, {VmColumn::Ram, "RAM"},
    {VmColumn::Name, "NAME"},
};

// Where columns end; 0: not shown.
struct VmLayout {
  int name = 11;
  int name_end = 0;
  bool has_pid = true;
  std::array<int, kVmNumbers> ends{};
};
VmLayout vm_layout(int columns);

// What of it is in the host's RAM; empty where the guest does not tell.
std::optional<uint64_t> band_bytes(const analysis::VmRow& row,
                                   uint64_t analysis::RamBands::*bytes);
// What a column but NAME is sorted by.
uint64_t vm_number(const analysis::VmRow& row, VmColumn column);

void draw_vm_head(Canvas& canvas, int at, VmColumn sort, bool is_reversed);
void draw_vm(Canvas& canvas, const Look& look, int at,
             const analysis::VmRow& row, bool is_open);
void draw_vm_band(Canvas& canvas, const Look& look, int at,
                  const analysis::VmRow& row, const analysis::VmBand& band);

}  // namespace tidemark::view::tui
