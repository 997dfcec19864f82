#include "source/event_filter.h"

#include <vector>

namespace tidemark::source {
namespace {

// A filter of several conditions, all of which must hold.
std::string joined(const std::vector<std::string>& conditions) {
  std::string filter;
  for (const std::string& condition : conditions) {
    if (condition.empty()) continue;
    if (!filter.empty()) filter += " && ";
    filter += condition;
  }
  return filter;
}

std::string order_filter(const TraceFilter& filter) {
  const TraceFilter all;
  if (filter.least_order == all.least_order &&
      filter.most_order == all.most_order) {
    return {};
  }
  return "order >= " + std::to_string(filter.least_order) +
         " && order <= " + std::to_string(filter.most_order);
}

// "&" tells whether any of the bits is set: all are asked for one by one.
std::string gfp_filter(const TraceFilter& filter) {
  std::vector<std::string> conditions;
  for (uint64_t bit = 1; bit <= filter.wanted_gfp_bits; bit <<= 1) {
    if ((filter.wanted_gfp_bits & bit) == 0) continue;
    conditions.push_back("gfp_flags & " + std::to_string(bit));
  }
  if (filter.unwanted_gfp_bits != 0) {
    conditions.push_back("!(gfp_flags & " +
                         std::to_string(filter.unwanted_gfp_bits) + ")");
  }
  return joined(conditions);
}

}  // namespace

// Bits below the order number frames inside of the block.
std::string FrameSample::filter() const {
  std::vector<std::string> conditions;
  uint32_t order = 0;
  for (uint64_t bit = 1; (bit & mask_) != 0; bit <<= 1, ++order) {
    const std::string last = "pfn & " + std::to_string(bit);
    const std::string block = "pfn & " + std::to_string(bit << kBlockBits);
    std::string condition = "(order > " + std::to_string(order) + " || (";
    condition.append(last).append(" && ").append(block);
    condition.append(") || !(").append(last).append(" || ").append(block);
    conditions.push_back(condition + "))");
  }
  return joined(conditions);
}

std::string alloc_event_filter(const TraceOptions& options) {
  return joined({order_filter(options.filter), gfp_filter(options.filter),
                 free_event_filter(options)});
}

std::string free_event_filter(const TraceOptions& options) {
  return FrameSample(options.sample_period).filter();
}

}  // namespace tidemark::source
