// What all profiles in pprof's protocol buffer share: the numbers of its fields
// and the table of texts. share/tidemark/pprof.proto has the messages.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "view/profile/protobuf.h"

namespace tidemark::view {

namespace pprof {
inline constexpr uint32_t kSampleType = 1;
inline constexpr uint32_t kSample = 2;
inline constexpr uint32_t kMapping = 3;
inline constexpr uint32_t kLocation = 4;
inline constexpr uint32_t kFunction = 5;
inline constexpr uint32_t kStringTable = 6;
inline constexpr uint32_t kTimeNanos = 9;
inline constexpr uint32_t kDurationNanos = 10;
inline constexpr uint32_t kComment = 13;
inline constexpr uint32_t kDefaultSampleType = 14;
}  // namespace pprof

// Texts are written once and meant by their number; the first is empty.
class PprofTexts {
 public:
  PprofTexts() { index(""); }
  uint64_t index(const std::string& text) {
    auto [at, is_new] = known_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return at->second;
  }
  // Last, when all are known.
  void write(ProtobufWriter& profile) const {
    for (const std::string& text : texts_)
      profile.text(pprof::kStringTable, text);
  }

 private:
  std::map<std::string, uint64_t> known_;
  std::vector<std::string> texts_;
};

inline ProtobufWriter pprof_value_type(PprofTexts& texts, const char* type,
                                       const char* unit) {
  ProtobufWriter message;
  message.number(1, texts.index(type));
  message.number(2, texts.index(unit));
  return message;
}

}  // namespace tidemark::view
