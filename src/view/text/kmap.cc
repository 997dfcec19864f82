#include "view/text/kmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/text/address.h"

namespace tidemark::view {
namespace {

using analysis::AddressRange;
using analysis::KmapGroup;
using analysis::KmapPart;
using analysis::KmapRegion;
using analysis::KmapReport;
using model::AddressForm;
using model::IoResource;
using model::VmallocArea;

constexpr size_t kRangeWidth = 33;  // two addresses and a dash
constexpr uint32_t kDeepest = 5;    // levels that are still indented

std::string range_of(const std::optional<AddressRange>& range) {
  if (!range) return std::string(16, '?') + "-" + std::string(16, '?');
  return address_text(range->start) + "-" + address_text(range->end);
}

class KmapPrinter {
 public:
  KmapPrinter(const KmapReport& report, const KmapTextOptions& options,
              const TextStyle& style)
      : report_(report), options_(options), style_(style) {}

  std::string print() {
    head("/A", "kernel address space");
    for (const KmapRegion& region : report_.regions)
      print_region(region);
    print_physical();
    print_notes();
    return std::move(out_);
  }

 private:
  void head(std::string_view tag, std::string_view name) {
    out_ += paint(style_, Ink::Bold, fmt::format("{} {}", tag, name)) + "\n";
  }

  // " M ffffffff81000000-ffffffff82206448 18.0M:sz     -:mem 'text'". What
  // holds no memory of its own has a dash; what has no size of its own, a
  // blank.
  void line(std::string_view tag, size_t depth, std::string_view place,
            std::string_view size, std::string_view memory,
            std::string_view rest) {
    std::string text = std::string(depth, ' ') + std::string(tag);
    text.resize(std::max(text.size(), tag_width_ - 1), ' ');
    text += " " + std::string(place);
    const size_t used = base::display_width(place);
    text += std::string(used < kRangeWidth ? kRangeWidth - used : 0, ' ');
    text += size.empty() ? std::string(9, ' ') : fmt::format(" {:>5}:sz", size);
    text += fmt::format(" {:>5}:mem ", memory);
    out_ += text + fitted(rest, base::display_width(text)) + "\n";
  }

  // Numbers are never cut, names are unless wide.
  std::string fitted(std::string_view name, size_t used) const {
    if (style_.wide || used >= style_.width) return std::string(name);
    return base::fit_width(name, style_.width - used, ellipsis(style_));
  }
  // In the place of a range.
  std::string placed(std::string_view name) const {
    const std::string text = quoted(base::visible(name));
    return style_.wide ? text
                       : base::fit_width(text, kRangeWidth, ellipsis(style_));
  }

  std::string size_of(const std::optional<uint64_t>& bytes) const {
    return bytes.has_value() ? base::short_size(*bytes, style_.unit) : "?";
  }
  std::string memory_of(const std::optional<uint64_t>& bytes) const {
    return bytes.has_value() ? base::short_size(*bytes, style_.unit) : "-";
  }

  void print_region(const KmapRegion& region) {
    const std::string memory =
        region.is_view ? "-" : size_of(region.memory_bytes.value);
    line("R", 0, range_of(region.range), size_of(region.size_bytes.value),
         memory, quoted(base::visible(region.name)));
    for (const KmapPart& part : region.parts) {
      line("M", 1, range_of(part.range), size_of(part.size_bytes),
           region.is_view ? "-" : size_of(part.size_bytes),
           quoted(base::visible(part.name)));
    }
    if (region.token == "vmalloc") print_areas();
  }

  void print_areas() {
    if (options_.all_areas) {
      for (const VmallocArea& area : report_.areas)
        print_area(area);
    } else {
      for (const KmapGroup& group : report_.groups)
        print_group(group);
    }
    if (!report_.vmalloc_residue_bytes) return;
    line("", 1, "not explained", "",
         dense_signed(style_, report_.vmalloc_residue_bytes),
         "VmallocUsed less these");
  }

  void print_group(const KmapGroup& group) {
    std::string rest =
        fmt::format("{} {}", base::grouped(group.count),
                    group.kind == model::VmallocKind::Unpurged
                        ? "freed"
                        : analysis::vmalloc_kind_token(group.kind));
    line("G", 1, placed(name_of(group.caller, group.kind)),
         size_of(group.size_bytes), memory_of(group.memory_bytes), rest);
  }

  static std::string name_of(const std::string& caller,
                             model::VmallocKind kind) {
    if (!caller.empty()) return caller;
    return kind == model::VmallocKind::Unpurged ? "addresses not yet reusable"
                                                : "caller not recorded";
  }

  void print_area(const VmallocArea& area) {
    const std::string memory =
        area.pages ? base::short_size(*area.pages * report_.page_size_bytes,
                                      style_.unit)
                   : "-";
    std::string kind(analysis::vmalloc_kind_token(area.kind));
    if (area.is_user) kind += ", user";
    if (area.phys) kind += fmt::format(" of {:#x}", *area.phys);
    const std::string name = name_of(area.caller, area.kind);
    // Hashes say nothing, so the caller takes their place.
    if (report_.area_addresses == AddressForm::Real) {
      line("M", 1, range_of(AddressRange{*area.start, *area.end}),
           size_of(area.size_bytes), memory,
           quoted(base::visible(name)) + " " + kind);
    } else {
      line("M", 1, placed(name), size_of(area.size_bytes), memory, kind);
    }
  }

  void print_physical() {
    if (!report_.physical ||
        report_.physical->addresses == AddressForm::Hidden) {
      return;
    }
    out_ += "\n";
    head("/P", report_.ram_bytes ? "physical address space, " +
                                       size_of(report_.ram_bytes) + " of RAM"
                                 : "physical address space");
    uint32_t deepest = 1;
    for (const IoResource& resource : report_.physical->resources)
      deepest = std::max(deepest, std::min(resource.depth, kDeepest));
    tag_width_ = deepest + 2;
    for (const IoResource& resource : report_.physical->resources)
      print_resource(resource);
  }

  void print_resource(const IoResource& resource) {
    std::optional<AddressRange> range;
    std::optional<uint64_t> size;
    if (resource.last < UINT64_MAX) {
      range = AddressRange{resource.first, resource.last + 1};
      size = resource.last + 1 - resource.first;
    }
    line(resource.depth == 0 ? "R" : "M", std::min(resource.depth, kDeepest),
         range_of(range), size_of(size),
         model::is_system_ram(resource) ? size_of(size) : "-",
         quoted(base::visible(resource.name)));
  }

  void print_notes() {
    if (report_.notes.empty()) return;
    out_ += "\n";
    for (const std::string& note : report_.notes) {
      out_ += wrapped(style_, Ink::Dim, 0, base::visible(note));
    }
  }

  const KmapReport& report_;
  const KmapTextOptions& options_;
  const TextStyle& style_;
  size_t tag_width_ = 3;
  std::string out_;
};

}  // namespace

std::string kmap_text(const KmapReport& report, const KmapTextOptions& options,
                      const TextStyle& style) {
  return KmapPrinter(report, options, style).print();
}

}  // namespace tidemark::view
