#include "view/tui/vm_table.h"

#include <string>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::RamBands;
using analysis::VmBand;
using analysis::VmRow;
using model::Category;

std::optional<uint64_t> balloon_bytes(const VmRow& row) {
  return row.vm.guest.balloon_bytes;
}

}  // namespace

VmLayout vm_layout(int columns) {
  VmLayout layout;
  int end = columns - 1;
  const auto take = [&](VmColumn column, int width) {
    layout.ends[static_cast<size_t>(column)] = end;
    end -= width;
  };
  if (columns >= 80) take(VmColumn::Ram, 7);
  if (columns >= 80) take(VmColumn::Balloon, 8);
  if (columns >= 60) take(VmColumn::Held, 7);
  if (columns >= 66) take(VmColumn::Caches, 7);
  if (columns >= 60) take(VmColumn::Used, 7);
  take(VmColumn::Cost, 7);
  layout.name_end = end;
  layout.has_pid = columns >= 60;
  if (!layout.has_pid) layout.name = 3;
  return layout;
}

std::optional<uint64_t> band_bytes(const VmRow& row,
                                   uint64_t RamBands::*bytes) {
  if (!row.ram_bands) return std::nullopt;
  return (*row.ram_bands).*bytes;
}

uint64_t vm_number(const VmRow& row, VmColumn column) {
  switch (column) {
    case VmColumn::Held:
      return band_bytes(row, &RamBands::held_bytes).value_or(0);
    case VmColumn::Used:
      return band_bytes(row, &RamBands::used_bytes).value_or(0);
    case VmColumn::Caches:
      return band_bytes(row, &RamBands::caches_bytes).value_or(0);
    case VmColumn::Balloon:
      return balloon_bytes(row).value_or(0);
    case VmColumn::Ram:
      return analysis::configured_bytes(row.vm).value_or(0);
    default:
      return row.cost.bytes;
  }
}

void draw_vm_head(Canvas& canvas, int at, VmColumn sort, bool is_reversed) {
  const VmLayout layout = vm_layout(canvas.columns());
  if (layout.has_pid) canvas.put(3, at, "PID", paint(Role::Dim));
  canvas.put(layout.name, at, "NAME",
             paint(sort == VmColumn::Name ? Role::Strong : Role::Dim));
  for (size_t i = 0; i < kVmNumbers; ++i) {
    if (layout.ends[i] == 0) continue;
    const bool is_sort = sort == kVmColumns[i].column;
    std::string head(kVmColumns[i].head);
    if (is_sort && canvas.columns() >= 132) head += is_reversed ? "↑" : "↓";
    canvas.put_right(layout.ends[i], at, head,
                     paint(is_sort ? Role::Strong : Role::Dim));
  }
}

void draw_vm(Canvas& canvas, const Look& look, int at, const VmRow& row,
             bool is_open) {
  const VmLayout layout = vm_layout(canvas.columns());
  canvas.put(1, at, is_open ? "▾" : "▸", paint(Role::Dim));
  if (layout.has_pid)
    canvas.put(2, at, "p:" + std::to_string(row.vm.id.pid), paint(Role::Dim));
  std::string name = base::visible(row.vm.name);
  if (canvas.columns() >= 132)
    name += "  " + std::string(model::vm_kind_name(row.vm.kind));
  canvas.put_within(layout.name, at, layout.name_end - layout.name - 1, name,
                    paint(Role::Strong));
  const auto put = [&](VmColumn column, const model::Amount& amount,
                       Role role) {
    const int end = layout.ends[static_cast<size_t>(column)];
    if (end > 0) put_amount(canvas, look, end, at, amount, paint(role));
  };
  const auto band = [&](VmColumn column, uint64_t RamBands::*bytes) {
    put(column, model::amount_of(band_bytes(row, bytes)), Role::Plain);
  };
  put(VmColumn::Cost, row.cost, Role::Strong);
  band(VmColumn::Used, &RamBands::used_bytes);
  band(VmColumn::Caches, &RamBands::caches_bytes);
  band(VmColumn::Held, &RamBands::held_bytes);
  put(VmColumn::Ram, model::amount_of(analysis::configured_bytes(row.vm)),
      Role::Dim);
  // A VM without a balloon device has none, which is not unknown.
  const int end = layout.ends[static_cast<size_t>(VmColumn::Balloon)];
  if (end > 0 && row.vm.guest.state == model::GuestState::NoBalloon) {
    canvas.put_right(end, at, "-", paint(Role::Dim));
  } else {
    put(VmColumn::Balloon, model::amount_of(balloon_bytes(row)), Role::Plain);
  }
}

void draw_vm_band(Canvas& canvas, const Look& look, int at, const VmRow& row,
                  const VmBand& band) {
  const VmLayout layout = vm_layout(canvas.columns());
  const Category colour = kBandColours[static_cast<size_t>(band.kind)];
  const int column = layout.name;
  canvas.set(column, at, band_glyph(look, colour), paint(role_of(colour)));
  std::string name = base::visible(band.name);
  if (band.process_count > 1) name += " ×" + std::to_string(band.process_count);
  canvas.put_within(column + 2, at, layout.name_end - column - 3, name,
                    paint(Role::Plain));
  const int end = layout.ends[static_cast<size_t>(VmColumn::Cost)];
  canvas.put_right(end, at, base::short_size(band.bytes), paint(Role::Plain));
  // How it is known takes the place of the other columns.
  std::string words = base::percent(band.bytes, row.bands_sum.bytes) + " %";
  if (canvas.columns() >= 80) words += "  " + base::visible(band.known);
  canvas.put_within(end + 2, at, canvas.columns() - end - 3, words,
                    paint(Role::Dim));
}

}  // namespace tidemark::view::tui
