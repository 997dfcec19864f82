#include "base/page_size.h"

#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include <bit>

namespace tidemark::base {
namespace {

TEST(PageSize, IsWhatTheKernelHandedOver) {
  EXPECT_EQ(page_bytes(), ::getauxval(AT_PAGESZ));
  EXPECT_TRUE(std::has_single_bit(page_bytes()));
}

// The kernel itself: it protects pages that begin at multiples and no others.
TEST(PageSize, IsWhatMappingsAreMadeOf) {
  const uint64_t page = page_bytes();
  void* place =
      ::mmap(nullptr, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  char* bytes = static_cast<char*>(place);
  EXPECT_EQ(::mprotect(bytes + page, page, PROT_NONE), 0);
  EXPECT_NE(::mprotect(bytes + page / 2, page, PROT_NONE), 0);
  EXPECT_EQ(::munmap(place, 2 * page), 0);
}

}  // namespace
}  // namespace tidemark::base
