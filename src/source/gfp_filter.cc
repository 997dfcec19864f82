#include "source/gfp_filter.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"
#include "source/tracefs.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;

// Names without what they all begin with. What the allocator adds by itself is
// asked for nowhere: with cpusets it sets __GFP_HARDWALL for everybody.
struct GfpClass {
  std::string_view name;
  std::string_view wanted[2];
  std::string_view unwanted[2];
};
constexpr GfpClass kClasses[] = {
    {"movable", {"MOVABLE"}, {}},
    {"reclaimable", {"RECLAIMABLE"}, {}},
    {"unmovable", {}, {"MOVABLE", "RECLAIMABLE"}},
    {"kernel", {}, {"MOVABLE", "HIGHMEM"}},
    {"highuser", {"HIGHMEM"}, {}},
    {"atomic", {"HIGH"}, {"DIRECT_RECLAIM"}},
    {"nowait", {}, {"HIGH", "DIRECT_RECLAIM"}},
    {"dma", {"DMA"}, {}},
    {"dma32", {"DMA32"}, {}},
    {"account", {"ACCOUNT"}, {}},
};

// The bits of a flag under its whole name.
std::optional<uint64_t> bits_of(std::span<const parse::TraceFlag> flags,
                                std::string_view name) {
  for (const parse::TraceFlag& flag : flags) {
    if (flag.name == name) return flag.bits;
  }
  return std::nullopt;
}

// Adds the bits of the flags named; older kernels call the zones GFP_DMA.
base::Status add(std::span<const parse::TraceFlag> flags,
                 std::span<const std::string_view> names, uint64_t& bits) {
  for (std::string_view name : names) {
    if (name.empty()) continue;
    const std::string plain = "GFP_" + std::string(name);
    std::optional<uint64_t> found = bits_of(flags, "__" + plain);
    if (!found) found = bits_of(flags, plain);
    if (!found || *found == 0) {
      return base::fail(ErrorKind::Unsupported,
                        "this kernel does not tell which bit is __" + plain);
    }
    bits |= *found;
  }
  return base::Ok{};
}

base::Status add_word(std::span<const parse::TraceFlag> flags,
                      std::string_view word, uint64_t& wanted,
                      uint64_t& unwanted) {
  const auto* known = std::ranges::find(kClasses, word, &GfpClass::name);
  if (known != std::end(kClasses)) {
    base::Status status = add(flags, known->wanted, wanted);
    return status ? add(flags, known->unwanted, unwanted) : status;
  }
  const std::optional<uint64_t> bits = bits_of(flags, word);
  if (!bits || *bits == 0) {
    return base::fail(
        ErrorKind::Misused,
        "'" + std::string(word) + "' is no kind of allocation",
        gfp_class_names() + ", or a flag as this kernel names it: __GFP_ZERO");
  }
  wanted |= *bits;
  return base::Ok{};
}

}  // namespace

std::string gfp_class_names() {
  std::string names;
  for (const GfpClass& known : kClasses) {
    if (!names.empty()) names += ", ";
    names += known.name;
  }
  return names;
}

base::Result<GfpBits> find_gfp_bits(std::span<const parse::TraceFlag> flags,
                                    std::string_view words) {
  uint64_t wanted = 0;
  uint64_t unwanted = 0;
  std::string_view rest = words;
  do {
    base::Status status =
        add_word(flags, base::take_until(rest, ','), wanted, unwanted);
    if (!status) return status.error();
  } while (!rest.empty());
  if ((wanted & unwanted) != 0) {
    return base::fail(ErrorKind::Misused, "no allocation is all of '" +
                                              std::string(words) + "' at once");
  }
  if ((wanted | unwanted) > std::numeric_limits<uint32_t>::max()) {
    return base::fail(ErrorKind::Unsupported,
                      "this kernel's flags have more than 32 bits");
  }
  return GfpBits{static_cast<uint32_t>(wanted),
                 static_cast<uint32_t>(unwanted)};
}

base::Result<GfpBits> read_gfp_bits(const Roots& roots,
                                    std::string_view words) {
  base::Result<base::Directory> tracefs = open_tracefs(roots);
  if (!tracefs) {
    return base::within("the bits of allocation flags are read from there",
                        tracefs.error());
  }
  base::Result<std::string> format =
      base::read_file_at(*tracefs, "events/kmem/mm_page_alloc/format");
  if (!format) return format.error();
  return find_gfp_bits(parse::parse_trace_flags(*format), words);
}

}  // namespace tidemark::source
