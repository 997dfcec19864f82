#include "view/text/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using model::Ledger;
using model::LedgerRow;
using model::LedgerTier;

// Names have what the numbers leave of the screen, but never less than this:
// where half a name says nothing, a line may as well be longer than the screen.
constexpr size_t kLeastNameColumns = 20;
constexpr size_t kUsualNameColumns = 46;

std::string share(uint64_t bytes, uint64_t total) {
  if (total == 0) return "";
  const double percent =
      100.0 * static_cast<double>(bytes) / static_cast<double>(total);
  if (bytes > 0 && percent < 0.01) return "<0.01";
  return fmt::format("{:.2f}", percent);
}

std::string tier_words(const Ledger& ledger) {
  if (ledger.sampled_pages > 0) {
    return ledger.unseen_bytes == 0 ? "by the flags of all pages"
                                    : "by the flags of some pages";
  }
  switch (ledger.tier) {
    case LedgerTier::Counters:
      return "by the kernel's counters";
    case LedgerTier::Pages:
      return "every page, its flags and who maps it";
    case LedgerTier::Structs:
      return "every page, its mappers and the kernel's notes";
  }
  return "";
}

uint64_t bytes_of(const Ledger& ledger, model::LedgerClass ledger_class) {
  uint64_t bytes = 0;
  for (const LedgerRow& row : ledger.rows) {
    if (row.parent.empty() && row.ledger_class == ledger_class &&
        row.owner.empty()) {
      bytes += row.bytes;
    }
  }
  return bytes;
}

std::string head(const Ledger& ledger, const TextStyle& style) {
  std::string text = fmt::format(
      "{} of RAM, {}, in {:.2f} s\n", spelled(style, ledger.total_bytes),
      tier_words(ledger), static_cast<double>(ledger.elapsed_ns) / 1e9);
  // Where a sample was as large as all, nothing is estimated.
  if (ledger.sampled_pages > 0 && ledger.unseen_bytes > 0) {
    text += fmt::format(
        "a sample of {} pages; ± is the 95 % interval, and a class that is "
        "not\n"
        "shown has less than {}\n",
        base::grouped(ledger.sampled_pages),
        spelled(style, ledger.unseen_bytes));
  }
  text += fmt::format(
      "unnamed {} %, changed while read {} %",
      share(bytes_of(ledger, model::LedgerClass::Unnamed), ledger.total_bytes),
      share(bytes_of(ledger, model::LedgerClass::Unstable),
            ledger.total_bytes));
  if (ledger.mapped_pages > 0) {
    const uint64_t stable =
        ledger.mapped_pages - ledger.changed_pages - ledger.unreadable_pages;
    text += fmt::format(
        ";\nmappers found {:.3f} % of {} mapped pages",
        stable == 0 ? 0.0
                    : 100.0 * static_cast<double>(ledger.agreeing_pages) /
                          static_cast<double>(stable),
        base::grouped(ledger.mapped_pages));
  }
  text += "\n";
  if (!ledger.tier_note.empty()) {
    text += wrapped(style, Ink::Plain, 0,
                    "no further: " + base::visible(ledger.tier_note));
  }
  for (const std::string& note : ledger.notes)
    text += wrapped(style, Ink::Plain, 0, base::visible(note));
  return text + "\n";
}

std::string row_name(const LedgerRow& row) {
  return row.owner.empty() ? std::string(ledger_class_label(row.ledger_class))
                           : base::visible(row.owner);
}

class Lines {
 public:
  Lines(const Ledger& ledger, const LedgerTextOptions& options,
        const TextStyle& style)
      : ledger_(ledger),
        options_(options),
        style_(style),
        name_columns_(name_columns(ledger, style)),
        table_(columns(ledger, name_columns_)) {}

  std::string render() {
    size_t rows = 0;
    for (size_t i = 0; i < ledger_.rows.size();) {
      size_t end = i + 1;
      while (end < ledger_.rows.size() && !ledger_.rows[end].parent.empty())
        ++end;
      const LedgerRow& top = ledger_.rows[i];
      if (!top.owner.empty() &&
          (rows >= options_.row_limit || top.owner_count > 1)) {
        others_bytes_ += top.bytes;
        others_count_ += top.owner_count;
      } else {
        end_others();
        add(top, 0, Ink::Bold);
        add_parts(i + 1, end);
        ++rows;
      }
      i = end;
    }
    end_others();
    add_line("sum", ledger_.total_bytes, 0, 0, Ink::Bold);
    return table_.render(style_, false);
  }

 private:
  static constexpr size_t kBytesColumns = 9;
  static constexpr size_t kShareColumns = 6;
  static constexpr size_t kGap = 2;

  static size_t name_columns(const Ledger& ledger, const TextStyle& style) {
    size_t numbers = kGap + kBytesColumns + kGap + kShareColumns;
    if (ledger.sampled_pages > 0) numbers += kGap + kBytesColumns;
    return std::max(style.width, kLeastNameColumns + numbers) - numbers;
  }

  static std::vector<Column> columns(const Ledger& ledger, size_t names) {
    std::vector<Column> columns = {
        {"WHAT", Align::Left, std::min(names, kUsualNameColumns)},
        {"BYTES", Align::Right, kBytesColumns},
        {"%", Align::Right, kShareColumns}};
    if (ledger.sampled_pages > 0) {
      columns.push_back({"±", Align::Right, kBytesColumns});
    }
    return columns;
  }

  void add_line(const std::string& name, uint64_t bytes, uint64_t error_bytes,
                size_t depth, Ink ink) {
    const std::string indented = std::string(depth * 2, ' ') + name;
    std::vector<Cell> cells = {
        {style_.wide
             ? indented
             : base::fit_width(indented, name_columns_, ellipsis(style_)),
         ink},
        {spelled(style_, bytes), ink},
        {share(bytes, ledger_.total_bytes), ink}};
    if (ledger_.sampled_pages > 0 && error_bytes > 0) {
      cells.push_back({spelled(style_, error_bytes), ink});
    }
    table_.add_row(std::move(cells));
  }

  void add(const LedgerRow& row, size_t depth, Ink ink) {
    add_line(row_name(row), row.bytes, row.error_bytes, depth, ink);
  }

  void add_parts(size_t begin, size_t end) {
    uint64_t rest_bytes = 0;
    uint64_t rest_count = 0;
    for (size_t i = begin; i < end; ++i) {
      // One line for one is no saving.
      const bool is_one = ledger_.rows[i].owner_count == 1;
      if (is_one && (i - begin < options_.part_limit || end - i == 1)) {
        if (rest_count == 0) {
          add(ledger_.rows[i], 1, Ink::Plain);
          continue;
        }
      }
      rest_bytes += ledger_.rows[i].bytes;
      rest_count += ledger_.rows[i].owner_count;
    }
    if (rest_count > 0) {
      add_line(fmt::format("{} smaller", base::grouped(rest_count)), rest_bytes,
               0, 1, Ink::Dim);
    }
  }

  void end_others() {
    if (others_count_ == 0) return;
    add_line(fmt::format("{} smaller", base::grouped(others_count_)),
             others_bytes_, 0, 0, Ink::Dim);
    others_count_ = others_bytes_ = 0;
  }

  const Ledger& ledger_;
  const LedgerTextOptions& options_;
  const TextStyle& style_;
  size_t name_columns_;
  Table table_;
  uint64_t others_bytes_ = 0;
  uint64_t others_count_ = 0;
};

}  // namespace

std::string ledger_text(const Ledger& ledger, const LedgerTextOptions& options,
                        const TextStyle& style) {
  return head(ledger, style) + Lines(ledger, options, style).render();
}

std::string what_if_text(const analysis::WhatIf& result,
                         const TextStyle& style) {
  Table table({{"", Align::Left, 36}, {"BYTES", Align::Right, 9}});
  const auto line = [&](const char* label, uint64_t bytes, Ink ink) {
    table.add_row({{label, ink}, {spelled(style, bytes), ink}});
  };
  line("anonymous pages that only they map", result.anon_bytes, Ink::Plain);
  line("their page tables", result.page_table_bytes, Ink::Plain);
  line("their kernel stacks", result.kernel_stack_bytes, Ink::Plain);
  if (result.shmem_freed_bytes) {
    line("shared memory only they have", *result.shmem_freed_bytes, Ink::Plain);
  }
  line("comes back", result.freed_bytes, Ink::Bold);
  line("shared memory only they map", result.shmem_bytes, Ink::Dim);
  line("file cache only they map", result.file_bytes, Ink::Dim);
  return fmt::format("if {} process{} ended\n\n", result.process_count,
                     result.process_count == 1 ? "" : "es") +
         table.render(style, false) +
         (result.shmem_freed_bytes
              ? "\nShared memory comes back that nobody else maps or holds "
                "open "
                "and no name\nkeeps; file cache stays until it is needed.\n"
              : "\nShared memory comes back unless it is held open elsewhere; "
                "file cache stays\nuntil it is needed.\n");
}

}  // namespace tidemark::view
