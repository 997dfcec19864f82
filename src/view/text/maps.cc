#include "view/text/maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"
#include "view/text/address.h"
#include "view/text/table.h"

namespace tidemark::view {
namespace {

using analysis::CategoryUse;
using analysis::MapsRegion;
using analysis::MapsReport;
using model::Mapping;
using model::RegionKind;
using model::SmapsField;

std::string range(uint64_t start, uint64_t end) {
  return address_text(start) + "-" + address_text(end);
}

struct Numbers {
  uint64_t size_bytes = 0;
  uint64_t rss_bytes = 0;
  uint64_t pss_bytes = 0;
  uint64_t private_bytes = 0;
  uint64_t swap_bytes = 0;
};

Numbers numbers_of(const Mapping& m) {
  const uint64_t huge = model::hugetlb_bytes(m.fields).value_or(0);
  return {m.size_bytes(), m.fields.get_or_zero(SmapsField::Rss) + huge,
          m.fields.get_or_zero(SmapsField::Pss) + huge,
          model::uss_bytes(m.fields).value_or(0) +
              m.fields.get_or_zero(SmapsField::PrivateHugetlb),
          m.fields.get_or_zero(SmapsField::SwapPss)};
}

Numbers numbers_of(const CategoryUse& use) {
  return {use.size_bytes, use.rss_bytes, use.pss_bytes, use.private_bytes,
          use.swap_pss_bytes};
}

std::string field(const TextStyle& style, uint64_t bytes,
                  std::string_view label) {
  return fmt::format(" {:>5}:{}", base::short_size(bytes, style.unit), label);
}

class MapsPrinter {
 public:
  MapsPrinter(const MapsReport& report, const MapsTextOptions& options,
              const TextStyle& style)
      : report_(report), options_(options), style_(style) {
    // The column appears only where there is something to see in it.
    has_swap_ = report.total.swap_pss_bytes > 0;
  }

  std::string print() {
    head_line("/A", report_.name);
    head_line("/R", "mappings");
    for (const MapsRegion& region : report_.regions)
      print_region(region);
    return std::move(out_);
  }

 private:
  void head_line(std::string_view tag, std::string_view name) {
    line(tag, 0, range(report_.start_address, report_.end_address), "",
         numbers_of(report_.total), "", base::visible(name));
  }

  void print_region(const MapsRegion& region) {
    if (options_.explain) explain(region);
    if (region.mappings.size() == 1) {
      mapping_line(region, region.mappings[0], 0);
      return;
    }
    line("R", 0, range(region.start_address, region.end_address), "",
         numbers_of(region.sum), "", region_name(region));
    for (const Mapping& mapping : region.mappings) {
      mapping_line(region, mapping, 1);
    }
  }

  // Each kind is explained once, at its first region.
  void explain(const MapsRegion& region) {
    if (!explained_.insert(region.kind).second) return;
    std::string_view rest = region.explanation;
    std::string words = "#";
    while (!rest.empty()) {
      const std::string_view word = base::take_until(rest, ' ');
      if (words.size() + 1 + word.size() > 80) {
        out_ += paint(style_, Ink::Dim, words) + "\n";
        words = "#";
      }
      words += " " + std::string(word);
    }
    out_ += paint(style_, Ink::Dim, words) + "\n";
  }

  static std::string region_name(const MapsRegion& region) {
    if (region.kind != RegionKind::ThreadStack) {
      return base::visible(region.name);
    }
    if (region.thread_id == 0) return "stack of a thread";
    return fmt::format("stack of t:{} {}", region.thread_id,
                       base::visible(region.name));
  }

  static std::string mapping_name(const MapsRegion& region,
                                  const Mapping& mapping) {
    if (!mapping.name.empty()) return base::visible(mapping.name);
    switch (region.kind) {
      case RegionKind::Image:
        return base::visible(region.name) + " bss";
      case RegionKind::ThreadStack:
        return mapping.is_inaccessible() ? "guard" : region_name(region);
      case RegionKind::Arena:
        return mapping.is_inaccessible() ? "arena reserve" : "malloc arena";
      case RegionKind::Jit:
        return "generated code";
      case RegionKind::Reservation:
        return "reserved";
      default:
        return "anonymous";
    }
  }

  void mapping_line(const MapsRegion& region, const Mapping& mapping,
                    size_t depth) {
    std::string object;
    if (mapping.is_file()) {
      object = fmt::format("{:02x}:{:02x}:{}:obj", mapping.device_major,
                           mapping.device_minor, mapping.inode_id);
    }
    line("M", depth, range(mapping.start_address, mapping.end_address),
         model::permission_letters(mapping.permissions).substr(0, 3),
         numbers_of(mapping), object, mapping_name(region, mapping));
  }

  void line(std::string_view tag, size_t depth, const std::string& where,
            const std::string& permissions, const Numbers& n,
            const std::string& object, const std::string& name) {
    std::string text =
        fmt::format("{:<3}{} {:<3}", std::string(depth, ' ') + std::string(tag),
                    where, permissions);
    text += field(style_, n.size_bytes, "sz") +
            field(style_, n.rss_bytes, "res") +
            field(style_, n.pss_bytes, "pss") +
            field(style_, n.private_bytes, "priv");
    if (has_swap_) text += field(style_, n.swap_bytes, "swap");
    text += " ";
    if (!object.empty()) text += object + " ";
    text += quoted(name);
    const bool is_sum = tag != "M";
    out_ += paint(style_, is_sum ? Ink::Bold : Ink::Plain, text) + "\n";
  }

  const MapsReport& report_;
  const MapsTextOptions& options_;
  const TextStyle& style_;
  bool has_swap_ = false;
  std::set<RegionKind> explained_;
  std::string out_;
};

std::string summary(const MapsReport& report, const TextStyle& style) {
  Table table({{"", Align::Left, 21},
               {"MAPPINGS", Align::Right},
               {"SIZE", Align::Right, 8},
               {"RSS", Align::Right, 8},
               {"PSS", Align::Right, 8},
               {"PRIVATE", Align::Right, 8},
               {"SWAP", Align::Right}});
  const auto row = [&](std::string name, const CategoryUse& use, Ink ink) {
    const auto size = [&](uint64_t bytes) {
      return Cell{base::short_size(bytes, style.unit), ink};
    };
    table.add_row({{std::move(name), ink},
                   {base::grouped(use.mapping_count), ink},
                   size(use.size_bytes),
                   size(use.rss_bytes),
                   size(use.pss_bytes),
                   size(use.private_bytes),
                   size(use.swap_pss_bytes)});
  };
  for (const CategoryUse& use : report.categories) {
    row(std::string(model::category_name(use.category)), use, Ink::Plain);
  }
  row("sum", report.total, Ink::Bold);
  return table.render(style, false);
}

// Why these figures and the one of `ps` or `top` differ.
std::string comparison(const MapsReport& report, const TextStyle& style) {
  std::string out;
  if (report.status_rss_bytes) {
    const int64_t difference = static_cast<int64_t>(*report.status_rss_bytes) -
                               static_cast<int64_t>(report.total.rss_bytes);
    const std::string sign = difference > 0 ? "+" : "";
    out += fmt::format(
        "VmRSS in status {}: {}\n", spelled(style, *report.status_rss_bytes),
        difference == 0 ? "the same"
                        : sign + spelled_signed(style, difference) +
                              " against the sum of RSS");
  }
  if (report.page_table_bytes) {
    out += fmt::format("page tables {}, beside the sum\n",
                       spelled(style, *report.page_table_bytes));
  }
  if (report.unlocated_thread_count > 0) {
    out += fmt::format(
        "{} of {} threads were running: their stacks are told by shape\n",
        report.unlocated_thread_count, report.thread_count);
  }
  return out;
}

}  // namespace

std::string maps_text(const MapsReport& report, const MapsTextOptions& options,
                      const TextStyle& style) {
  if (options.summary_only) {
    return paint(style, Ink::Bold,
                 fmt::format("p:{} {}", report.process.pid,
                             base::visible(report.name))) +
           "\n\n" + summary(report, style) + "\n" + comparison(report, style);
  }
  return MapsPrinter(report, options, style).print();
}

}  // namespace tidemark::view
