#include "source/elf_names.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/source/temporary_tree.h"

// Not static, so that it is a symbol in whatever way this is built.
extern "C" __attribute__((noinline)) int tidemark_known_function(int value) {
  return value * 3 + 1;
}
namespace tidemark::test {
__attribute__((noinline)) int known_function(int value) {
  return value * 5 + 1;
}
}  // namespace tidemark::test

namespace tidemark::source {
namespace {

// Where it is in the file of this program.
uint64_t address_of(int (*function)(int)) {
  Dl_info info{};
  const auto address = reinterpret_cast<uintptr_t>(function);
  EXPECT_NE(::dladdr(reinterpret_cast<void*>(address), &info), 0);
  return address - reinterpret_cast<uintptr_t>(info.dli_fbase);
}

std::unique_ptr<CodeNames> names_in(const std::string& path) {
  return elf_names(base::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
}

TEST(ElfNames, FunctionsAreCalledByTheirSymbols) {
  const std::unique_ptr<CodeNames> names = names_in("/proc/self/exe");
  const uint64_t address = address_of(tidemark_known_function) + 1;
  const std::vector<model::TraceFrame> frames = names->names_at(address, false);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].symbol, "tidemark_known_function");
  EXPECT_EQ(frames[0].address, address);
  EXPECT_EQ(frames[0].offset, 1U);
}

TEST(ElfNames, NamesOfCPlusPlusAreReadable) {
  const std::vector<model::TraceFrame> frames =
      names_in("/proc/self/exe")
          ->names_at(address_of(test::known_function), false);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].symbol, "tidemark::test::known_function(int)");
}

TEST(ElfNames, APlaceOutsideOfAllFunctionsHasItsAddress) {
  constexpr uint64_t kFarOut = uint64_t{1} << 40;
  const std::vector<model::TraceFrame> frames =
      names_in("/proc/self/exe")->names_at(kFarOut, true);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].symbol, "");
  EXPECT_EQ(frames[0].address, kFarOut);
}

TEST(ElfNames, WhatIsNoElfFileHasNoNames) {
  test::TemporaryTree tree;
  tree.add("text", std::string(5000, 'x'));
  tree.add("short",
           "\x7f"
           "ELF");
  for (const char* name : {"text", "short", "missing"}) {
    const std::unique_ptr<CodeNames> names = names_in(tree.path(name));
    EXPECT_EQ(names->build_id(), "") << name;
    const std::vector<model::TraceFrame> frames = names->names_at(64, true);
    ASSERT_EQ(frames.size(), 1U) << name;
    EXPECT_EQ(frames[0].symbol, "") << name;
    EXPECT_EQ(frames[0].address, 64U) << name;
  }
}

}  // namespace
}  // namespace tidemark::source
