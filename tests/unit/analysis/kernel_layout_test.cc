#include "analysis/kernel_layout.h"

#include <gtest/gtest.h>

#include <vector>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using model::KernelSegment;

using test::kPage;
constexpr uint64_t kTotal = 0x1fffffffffff / 1024 * 1024;  // VmallocTotal

// A guest of 256 MiB, Debian's 6.12: two pieces of RAM with their structs.
std::vector<KernelSegment> segments() {
  return {{0xffffffffae600000, 0x2c30000, 0xa200000},
          {0xffffcd8480000000, 0x1fffffffffff, {}},
          {0xffffffffc0000000, 0x3f000000, {}},
          {0xffff8b3ac0001000, 0x9e000, 0x1000},
          {0xffffee2540000000, 0x3000, {}},
          {0xffff8b3ac0100000, 0xfee0000, 0x100000},
          {0xffffee2540004000, 0x3fc000, {}}};
}

TEST(KernelLayout, TellsTheRegionsApart) {
  const KernelLayout layout = find_layout(segments(), kTotal, kPage);
  EXPECT_EQ(layout.direct_map,
            (AddressRange{0xffff8b3ac0000000, 0xffff8b3acffe0000}));
  EXPECT_EQ(layout.vmalloc,
            (AddressRange{0xffffcd8480000000, 0xffffed847fffffff}));
  EXPECT_EQ(layout.page_structs,
            (AddressRange{0xffffee2540000000, 0xffffee2540400000}));
  EXPECT_EQ(layout.page_struct_bytes, 0x3ff000U);
}

TEST(KernelLayout, WithoutItsLengthVmallocIsNotGuessed) {
  const KernelLayout layout = find_layout(segments(), std::nullopt, kPage);
  EXPECT_TRUE(layout.direct_map);
  EXPECT_FALSE(layout.vmalloc);
}

TEST(KernelLayout, NothingIsMadeOfNothing) {
  const KernelLayout layout = find_layout({}, kTotal, kPage);
  EXPECT_FALSE(layout.direct_map);
  EXPECT_FALSE(layout.page_structs);
}

}  // namespace
}  // namespace tidemark::analysis
