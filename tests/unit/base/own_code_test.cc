#include "base/own_code.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace tidemark::base {
namespace {

// Of our own executable mapping, in kB; 0: there is none in smaps.
uint64_t resident_code() {
  std::ifstream smaps("/proc/self/smaps");
  std::string line;
  bool is_code = false;
  while (std::getline(smaps, line)) {
    if (line.find(" r-xp ") != std::string::npos) {
      is_code = line.find("unit_base") != std::string::npos;
    }
    if (is_code && line.starts_with("Rss:")) return std::stoull(line.substr(4));
  }
  return 0;
}

TEST(OwnCode, IsLetGoAndThereAgainWhenItIsUsed) {
  const uint64_t before = resident_code();
  if (before == 0) GTEST_SKIP() << "no mapping of our code in smaps";
  release_own_code();
  // Reading smaps has brought some of it back.
  EXPECT_LT(resident_code(), before);
}

}  // namespace
}  // namespace tidemark::base
