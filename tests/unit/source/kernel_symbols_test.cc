#include "source/kernel_symbols.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

constexpr const char* kSymbols =
    "0000000000001000 T first\n"
    "0000000000001100 t second.isra.0\n"
    "0000000000001100 t alias\n"
    "0000000000001180 D data\n"
    "0000000000001200 T third\n"
    "0000000000009000 t load\t[mod]\n";

class KernelSymbols : public testing::Test {
 protected:
  Roots roots(const std::string& text) {
    tree_.add("meminfo", "MemTotal: 1 kB\n");
    tree_.add("kallsyms", text);
    base::Result<Roots> opened = open_roots(tree_.path());
    EXPECT_TRUE(opened) << opened.error().what;
    return std::move(*opened);
  }
  test::TemporaryTree tree_;
};

TEST_F(KernelSymbols, NamesEachAddressInTheOrderGiven) {
  const auto named =
      name_addresses(roots(kSymbols), {0x9010, 0x1104, 0x1001, 0x1250});
  ASSERT_TRUE(named) << named.error().what;
  EXPECT_EQ((*named)[0].symbol, "load");
  EXPECT_EQ((*named)[0].module, "mod");
  EXPECT_EQ((*named)[0].offset, 0x10U);
  EXPECT_EQ((*named)[1].symbol, "second") << "the first of several names";
  EXPECT_EQ((*named)[2].symbol, "first");
  EXPECT_EQ((*named)[3].symbol, "third");
}

std::vector<std::string> functions_in(ModuleFunctions& functions) {
  std::vector<std::string> names;
  base::Status status =
      functions.read([&](const parse::KernelSymbolLine& line) {
        names.push_back(std::string(line.module) + ":" +
                        std::string(line.name));
      });
  EXPECT_TRUE(status) << status.error().what;
  return names;
}

TEST_F(KernelSymbols, FunctionsOfModulesAreThoseThereWhenRead) {
  const std::string own =
      "0000000000001000 T first\n0000000000001200 T third\n";
  const Roots there = roots(own);
  ModuleFunctions functions(there);
  ASSERT_TRUE(functions.open());
  // It has come since: the file was open at that place.
  tree_.add("kallsyms", own +
                            "0000000000009000 t load\t[mod]\n"
                            "0000000000009040 d data\t[mod]\n"
                            "0000000000009100 t bpf_prog_1\t[bpf]\n"
                            "0000000000009200 t kretprobe\t"
                            "[__builtin__kprobes]\n");
  EXPECT_EQ(functions_in(functions), std::vector<std::string>{"mod:load"});
  EXPECT_FALSE(functions.read([](const parse::KernelSymbolLine&) {}))
      << "once for each time it is opened";
  ASSERT_TRUE(functions.open());
  EXPECT_EQ(functions_in(functions).size(), 1U);
}

TEST_F(KernelSymbols, FunctionsOfModulesNeedAddresses) {
  const Roots there = roots("0000000000000000 T first\n");
  EXPECT_EQ(ModuleFunctions(there).open().error().kind,
            base::ErrorKind::Denied);
}

TEST_F(KernelSymbols, AReturnAddressBehindAFunctionIsStillInIt) {
  const auto named = name_addresses(roots(kSymbols), {0x1100});
  ASSERT_TRUE(named);
  EXPECT_EQ((*named)[0].symbol, "first");
  EXPECT_EQ((*named)[0].offset, 0x100U);
}

TEST_F(KernelSymbols, DataNamesNoCode) {
  const auto named = name_addresses(roots(kSymbols), {0x1190});
  ASSERT_TRUE(named);
  EXPECT_EQ((*named)[0].symbol, "second");
}

TEST_F(KernelSymbols, FarFromAnyNameThereIsNone) {
  const auto named =
      name_addresses(roots(kSymbols), {0x10, 0x9000 + (uint64_t{2} << 20)});
  ASSERT_TRUE(named);
  EXPECT_EQ((*named)[0].symbol, "");
  EXPECT_EQ((*named)[1].symbol, "");
  EXPECT_EQ((*named)[1].address, 0x9000 + (uint64_t{2} << 20));
}

TEST_F(KernelSymbols, HiddenAddressesAreSaid) {
  const auto named = name_addresses(
      roots("0000000000000000 T first\n0000000000000000 T second\n"), {0x1001});
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().kind, base::ErrorKind::Denied);
}

TEST_F(KernelSymbols, ReadsAFileOfManyBlocks) {
  std::string text;
  for (int i = 1; i <= 20'000; ++i) {
    char line[64];
    std::snprintf(line, sizeof line, "%016x t function_%d\n", i * 0x100, i);
    text += line;
  }
  const auto named =
      name_addresses(roots(text), {0x1235 * 0x100 + 4, 0x4e20 * 0x100 + 4});
  ASSERT_TRUE(named);
  EXPECT_EQ((*named)[0].symbol, "function_4661");
  EXPECT_EQ((*named)[1].symbol, "function_20000");
}

TEST_F(KernelSymbols, FindsWhereCodeLies) {
  const auto code = find_code(roots(kSymbols), {"second", "load", "absent"});
  ASSERT_TRUE(code);
  ASSERT_EQ(code->size(), 2U);
  EXPECT_EQ((*code)[0], (CodeRange{"second", 0x1100, 0x1200}));
  EXPECT_EQ((*code)[1].first, 0x9000U);
}

}  // namespace
}  // namespace tidemark::source
