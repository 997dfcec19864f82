#include "parse/kallsyms.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemark::parse {
namespace {

std::vector<KernelSymbolLine> all(std::string_view text) {
  std::vector<KernelSymbolLine> symbols;
  KernelSymbolLine symbol;
  while (take_kernel_symbol(text, symbol))
    symbols.push_back(symbol);
  return symbols;
}

TEST(Kallsyms, TakesAddressTypeAndName) {
  const auto symbols = all("ffffffff81000000 T _stext\n");
  ASSERT_EQ(symbols.size(), 1U);
  EXPECT_EQ(symbols[0].address, 0xffffffff81000000);
  EXPECT_EQ(symbols[0].type, 'T');
  EXPECT_EQ(symbols[0].name, "_stext");
  EXPECT_EQ(symbols[0].module, "");
}

TEST(Kallsyms, TakesTheModuleFromItsBrackets) {
  const auto symbols = all("ffffffffc0201000 t xfs_inode_alloc\t[xfs]\n");
  ASSERT_EQ(symbols.size(), 1U);
  EXPECT_EQ(symbols[0].name, "xfs_inode_alloc");
  EXPECT_EQ(symbols[0].module, "xfs");
}

TEST(Kallsyms, CutsWhatTheCompilerAppended) {
  const auto symbols = all("ffffffff81000010 t folio_add.isra.0\n");
  ASSERT_EQ(symbols.size(), 1U);
  EXPECT_EQ(symbols[0].name, "folio_add");
}

TEST(Kallsyms, PassesOverLinesThatAreNoSymbols) {
  EXPECT_EQ(all("\nnonsense\nffffffff81000000 TT x\nffffffff81000000 t\n"
                "zz t name\nffffffff81000000 t name\n")
                .size(),
            1U);
}

TEST(Kallsyms, TakesALastLineWithoutANewline) {
  EXPECT_EQ(all("1 t a\n2 t b").size(), 2U);
}

}  // namespace
}  // namespace tidemark::parse
