#include "view/text/watcher.h"

#include <gtest/gtest.h>

namespace tidemark::view {
namespace {

using analysis::WatcherMachine;

constexpr uint64_t kKib = 1024;

// Its lines that begin so, without the run of blanks before the number.
std::string line_with(const std::string& text, const std::string& label) {
  const size_t at = text.find("\n" + label);
  if (at == std::string::npos) return "";
  std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
  const size_t gap = line.find("   ", label.size());
  const size_t number = line.find_first_not_of(' ', gap);
  return line.substr(0, gap) + " " + line.substr(number);
}

TEST(WatcherMachineText, HasBlanksBetweenThousandsAndSharesOfTheTotal) {
  WatcherMachine machine;
  machine.meminfo.total_bytes = 16'000'000 * kKib;
  machine.other_kernel_bytes = -int64_t{1234} * 1024;
  machine.processes = {
      {41, "big\n", 4'000'000 * kKib, 0, 666, 0},
      {42, "small", 1'000 * kKib, 0, 0, 0},
      {43, "denied", {}, {}, {}, {}},
      {44, "cut", 5 * kKib, 0, 0, 0},
  };
  machine.sum_bytes = 4'001'005 * kKib;
  const std::string text = watcher_machine_text("now", "Pss", machine, 3);
  EXPECT_EQ(line_with(text, "total:"), "total: 16 000 000 Ki");
  EXPECT_EQ(line_with(text, "free:"), "free: ? Ki");
  EXPECT_TRUE(line_with(text, "other memory of the kernel:")
                  .starts_with("other memory of the kernel: -1 234 Ki"));
  EXPECT_EQ(line_with(text, "big"),
            "big\\n (41) 4 000 000 Ki   // 25 %; oom_adj 0, oom_score 666, "
            "oom_score_adj 0");
  EXPECT_EQ(line_with(text, "small"), "small (42) 1 000 Ki   // <0.1 %");
  EXPECT_EQ(line_with(text, "denied"), "denied (43) ? Ki   // ? %");
  EXPECT_EQ(line_with(text, "others:"), "others: 5 Ki");
  EXPECT_EQ(line_with(text, "sum:"), "sum: 4 001 005 Ki");
}

}  // namespace
}  // namespace tidemark::view
