// What an allocation was asked for with, as people call it, and the bits that
// this kernel writes for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "parse/trace_flags.h"
#include "source/roots.h"

namespace tidemark::source {

struct GfpBits {
  uint32_t wanted = 0;    // all of them
  uint32_t unwanted = 0;  // none of them
  bool operator==(const GfpBits&) const = default;
};

// "movable", "unmovable"…: the classes there are, for people.
std::string gfp_class_names();

// Words separated by commas, all of which must hold: classes, or flags as the
// kernel names them (GFP_KERNEL, __GFP_ZERO). Misused when a word is neither or
// two exclude each other; Unsupported when the kernel does not tell the bit of
// a class.
base::Result<GfpBits> find_gfp_bits(std::span<const parse::TraceFlag> flags,
                                    std::string_view words);

// The same with the flags of the running kernel.
base::Result<GfpBits> read_gfp_bits(const Roots& roots, std::string_view words);

}  // namespace tidemark::source
