#include "view/tui/class_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/system_report.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "view/text/style.h"
#include "view/text/system.h"
#include "view/tui/machine_pictures.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::TopLedger;
using analysis::TopLedgerPart;
using analysis::TopLedgerRow;
using analysis::TopSnapshot;
using model::Category;

struct KindWords {
  Category kind;
  std::string_view what;
  std::string_view frees;  // who or what would give it back
};
constexpr KindWords kKindWords[] = {
    {Category::Heap, "heaps of programs", "if its owners ended"},
    {Category::Anon,
     "memory of programs that no file stands behind: heaps, stacks, what "
     "malloc and mmap gave them",
     "if its owners ended"},
    {Category::Stack, "stacks of threads", "if its owners ended"},
    {Category::Shm,
     "tmpfs, memfd, SysV segments and anonymous memory that programs share; it "
     "can be swapped out, but not dropped",
     "once nobody maps it, holds it open or names it"},
    {Category::File,
     "the page cache: what was read from files and devices, or is to be "
     "written to them; with it programs and libraries",
     "as memory is needed, less what is dirty or in use"},
    {Category::Code, "programs and libraries", "as memory is needed"},
    {Category::Huge, "the pool of huge pages, also those nobody uses",
     "by a smaller vm.nr_hugepages, less what is in use"},
    {Category::Swap,
     "what swapping itself holds in RAM: zram, zswap and the swap cache",
     "as it is read back, or its owners end"},
    {Category::Slab, "small objects of the kernel: inodes, dentries, buffers",
     "as memory is needed (SReclaimable)"},
    {Category::Ptab,
     "page tables: which address of a program is which page of RAM",
     "if the processes they serve ended"},
    {Category::Kern,
     "pages of the kernel itself: stacks of tasks, vmalloc, per-CPU data, "
     "buffers of sockets and drivers",
     ""},
    {Category::Wired,
     "taken at boot, before there was an allocator: kernel image, page "
     "structs, "
     "firmware; and what a balloon gave to the host",
     ""},
    {Category::Free, "nobody's: what the next allocation takes", ""},
    {Category::Unnamed, "pages that no source explains", ""},
};

const KindWords& kind_words(Category kind) {
  return *std::ranges::find(kKindWords, kind, &KindWords::kind);
}

// The largest owner that has pages of this kind for itself alone: only of those
// it is certain that they come back with its end.
const TopLedgerPart* largest_owner(const TopLedger& ledger, Category kind) {
  const TopLedgerPart* largest = nullptr;
  for (const TopLedgerRow& row : ledger.rows) {
    if (row.category != kind || row.parts.empty() ||
        row.name != model::ledger_class_label(model::LedgerClass::AnonPrivate))
      continue;
    if (largest == nullptr || row.parts.front().bytes > largest->bytes)
      largest = &row.parts.front();
  }
  return largest;
}

std::optional<uint64_t> droppable_bytes(const TopSnapshot& snapshot) {
  if (!snapshot.sample.machine) return std::nullopt;
  const model::MemInfo& meminfo = snapshot.sample.machine->meminfo;
  if (!meminfo.available_bytes || !meminfo.free_bytes ||
      *meminfo.available_bytes < *meminfo.free_bytes)
    return std::nullopt;
  return *meminfo.available_bytes - *meminfo.free_bytes;
}

// What the account says of it is a bound, unless less is known to be droppable.
uint64_t bound_of(const TopSnapshot& snapshot, const Census& census,
                  Category kind) {
  const auto all = static_cast<uint64_t>(
      std::max<int64_t>(bytes_of(account_of(snapshot, census), kind), 0));
  if (kind != Category::Slab || !snapshot.sample.machine) return all;
  const std::optional<uint64_t>& reclaimable =
      snapshot.sample.machine->meminfo.slab_reclaimable_bytes;
  return reclaimable ? std::min(all, *reclaimable) : all;
}

std::string anon_words(const TopSnapshot& snapshot, const Census& census) {
  std::string all =
      "≤" + base::short_size(bound_of(snapshot, census, Category::Anon)) + " " +
      std::string(kind_words(Category::Anon).frees);
  if (!census.is_counted() || snapshot.playback) return all;
  const TopLedgerPart* owner = largest_owner(*census.ledger(), Category::Anon);
  if (owner == nullptr) return all;
  return base::short_size(owner->bytes) + " if " + base::visible(owner->name) +
         " ended, " + all;
}

// Why nobody can say it.
std::string unknown_words(Category kind) {
  switch (kind) {
    case Category::Free:
      return "it is free already";
    case Category::Wired:
      return "nothing before the next boot; a balloon by the host";
    case Category::Kern:
      return "unknown: the kernel's own; 4 Trace says who asks";
    default:
      return "unknown: nobody knows whose pages these are";
  }
}

std::string paragraph(const TextStyle& style, std::string_view text) {
  return wrapped(style, view::Ink::Plain, 0, text);
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty())
    lines.emplace_back(base::take_until(text, '\n'));
  return lines;
}

// The rows of the count that are of this kind, and when that was.
std::string counted_text(const TopSnapshot& snapshot, const Census& census,
                         Category kind, const TextStyle& style) {
  if (!census.is_counted() || snapshot.playback) {
    const std::string why = census_words(snapshot, census.reading());
    return paragraph(style, "Pages were not counted" +
                                (why.empty() ? "" : ": " + why) + ".");
  }
  const TopLedger& ledger = *census.ledger();
  std::string text = paragraph(
      style, std::string("Counted page by page, by its flags and who maps it") +
                 (ledger.tier == model::LedgerTier::Structs
                      ? " and what the kernel notes of it"
                      : "") +
                 " (" + census_words(snapshot, census.reading()) + "):");
  for (const TopLedgerRow& row : ledger.rows) {
    if (row.category != kind) continue;
    text +=
        fmt::format("  {:<32} {:>6}", row.name, base::short_size(row.bytes));
    if (row.part_count > 0)
      text += "  " + base::counted(row.part_count, "owner", "owners");
    text += "\n";
  }
  return text;
}

}  // namespace

std::string come_back_words(const TopSnapshot& snapshot, const Census& census,
                            Category kind) {
  const std::string name = std::string(class_name(kind)) + ": ";
  const KindWords& words = kind_words(kind);
  if (words.frees.empty()) return name + unknown_words(kind);
  if (kind == Category::Anon) return name + anon_words(snapshot, census);
  return name + "≤" + base::short_size(bound_of(snapshot, census, kind)) + " " +
         std::string(words.frees);
}

std::vector<std::string> explain_kind(const TopSnapshot& snapshot,
                                      const Census& census, Category kind,
                                      int columns) {
  TextStyle style;
  style.width = static_cast<size_t>(std::max(columns, 20));
  const analysis::TopMachine account = account_of(snapshot, census);
  const int64_t bytes = bytes_of(account, kind);
  std::string text = fmt::format(
      "{}   {}   {:.1f} % of RAM\n", class_name(kind),
      signed_size(bytes).substr(bytes > 0),
      static_cast<double>(bytes) * 100.0 /
          static_cast<double>(std::max<uint64_t>(account.total_bytes, 1)));
  text += paragraph(style, kind_words(kind).what) + "\n" +
          counted_text(snapshot, census, kind, style) + "\n";
  const std::optional<analysis::SystemReport> report =
      analysis::make_system_report(snapshot.sample);
  const std::string counters =
      report ? system_explanation_of(*report, kind, style) : "";
  text += counters.empty() ? "No counter of the kernel tells it.\n"
                           : "By the kernel's counters, now:\n" + counters;
  text += "\n" + paragraph(style, "What would come back of " +
                                      come_back_words(snapshot, census, kind));
  const std::optional<uint64_t> droppable = droppable_bytes(snapshot);
  if (droppable && (kind == Category::File || kind == Category::Slab)) {
    text += paragraph(
        style, "The kernel itself thinks " + base::short_size(*droppable) +
                   " of files and slab could be had without swapping "
                   "(MemAvailable - MemFree).");
  }
  return lines_of(text);
}

}  // namespace tidemark::view::tui
