#include "view/exchange/remote_write.h"

#include <gtest/gtest.h>

namespace tidemark::view {
namespace {

using model::MetricFamily;
using model::MetricType;

// Short, and without four bytes that come twice: snappy leaves it as it is,
// behind its length and the tag of a literal.
TEST(RemoteWrite, IsTheMessageThatReceiversKnow) {
  MetricFamily family{"a", MetricType::Gauge, "", "", {}};
  family.samples = {{{{"x", "1"}}, 3.14159}};
  const std::string request = remote_write_request({family}, {}, 5'000'000);
  const std::string message =
      std::string("\x0a\x24") +                             // TimeSeries
      "\x0a\x0d" + "\x0a\x08__name__" + "\x12\x01" + "a" +  // Label
      "\x0a\x06" + "\x0a\x01x" + "\x12\x01" + "1" +         // Label
      "\x12\x0b" + "\x09\x6e\x86\x1b\xf0\xf9\x21\x09\x40" + "\x10\x05";
  EXPECT_EQ(request, std::string("\x26\x94", 2) + message);
}

TEST(RemoteWrite, LabelsAreInOrderAndNoneComesTwice) {
  MetricFamily family{"f", MetricType::Gauge, "", "", {}};
  family.samples = {{{{"zone", "own"}, {"empty", ""}}, 3.14159}};
  const std::string request = remote_write_request(
      {family}, {{"zone", "common"}, {"instance", "host"}}, 1'000'000);
  const size_t name = request.find("__name__");
  const size_t instance = request.find("instance");
  const size_t zone = request.find("zone");
  ASSERT_NE(zone, std::string::npos);
  EXPECT_LT(name, instance);
  EXPECT_LT(instance, zone);
  EXPECT_EQ(request.find("common"), std::string::npos);
  EXPECT_EQ(request.find("empty"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::view
