#include "source/module_history.h"

#include <gtest/gtest.h>

namespace tidemark::source {
namespace {

using model::TraceFrame;

constexpr uint64_t kText = 0xffffffffc0000000;
constexpr uint64_t kInit = 0xffffffffc0010000;

ModuleLife zram(uint32_t loaded_at) {
  return {"zram", {kText, 0x2000}, {kInit, 0x1000}, 40'000, loaded_at};
}

// What the kernel calls an address that nothing is known about.
TraceFrame nameless(uint64_t address) {
  return {address, {}, 0, {}};
}

ModuleHistory with_init_symbols() {
  ModuleHistory history;
  const size_t life = history.add_load(zram(1));
  history.add_symbol(life, kInit + 0x10, "zram_init");
  history.add_symbol(life, kInit + 0x100, "zram_add_disk.isra.0");
  return history;
}

TEST(ModuleHistory, AFunctionOfInitHasItsNameWhenItIsGone) {
  const TraceFrame frame =
      with_init_symbols().frame_at(nameless(kInit + 0x40), 1);
  EXPECT_EQ(frame, (TraceFrame{kInit + 0x40, "zram_init", 0x30, "zram"}));
  EXPECT_EQ(with_init_symbols().frame_at(nameless(kInit + 0x180), 1).symbol,
            "zram_add_disk");
}

TEST(ModuleHistory, AReturnAddressBehindAFunctionIsStillInIt) {
  EXPECT_EQ(with_init_symbols().frame_at(nameless(kInit + 0x100), 1).symbol,
            "zram_init");
}

TEST(ModuleHistory, InitWithoutNamesIsSaidToBeInit) {
  ModuleHistory history;
  history.add_load(zram(1));
  const TraceFrame frame = history.frame_at(nameless(kInit + 0x40), 1);
  EXPECT_EQ(frame.symbol, "(init)");
  EXPECT_EQ(frame.module, "zram");
}

TEST(ModuleHistory, WhoeverUsesTheAddressAgainDoesNotNameIt) {
  ModuleHistory history = with_init_symbols();
  // Another module lies where the init code was, and is still there.
  history.add_load({"loop", {kInit, 0x3000}, {}, 30'000, 2});
  const TraceFrame now = {kInit + 0x40, "loop_add", 0x8, "loop"};
  EXPECT_EQ(history.frame_at(now, 1).symbol, "zram_init");
  EXPECT_EQ(history.frame_at(now, 2), now);
  // Before either of them it was somebody's nobody told of.
  EXPECT_EQ(history.frame_at(now, 0), nameless(kInit + 0x40));
}

TEST(ModuleHistory, AnUnloadedModuleStillNamesItsStacks) {
  ModuleHistory history = with_init_symbols();
  ModuleLife gone = zram(0);
  gone.unloaded_at = 2;
  const size_t life = history.add_unload(gone);
  EXPECT_EQ(life, 0U) << "the one that was loaded";
  history.add_symbol(life, kText + 0x10, "zram_write");
  EXPECT_EQ(history.frame_at(nameless(kText + 0x20), 1),
            (TraceFrame{kText + 0x20, "zram_write", 0x10, "zram"}));
  EXPECT_EQ(history.frame_at(nameless(kText + 0x8), 1).symbol, "")
      << "before its first function";
  EXPECT_EQ(history.frame_at(nameless(kText + 0x20), 2),
            nameless(kText + 0x20));
}

TEST(ModuleHistory, OneFromBeforeTheTraceIsKnownByItsEnd) {
  ModuleHistory history;
  ModuleLife gone = zram(0);
  gone.unloaded_at = 1;
  const size_t life = history.add_unload(gone);
  history.add_symbol(life, kText, "zram_write");
  EXPECT_EQ(history.frame_at(nameless(kText + 0x20), 0).module, "zram");
  EXPECT_EQ(history.frame_at(nameless(kInit + 0x20), 0).module, "")
      << "its init code was gone before";
  EXPECT_EQ(history.modules(),
            (std::vector<model::TraceModule>{{"zram", 40'000, false, true}}));
}

TEST(ModuleHistory, OneThatIsStillThereIsNamedAsItIsNow) {
  const TraceFrame now = {kText + 0x20, "zram_write", 0x10, "zram"};
  EXPECT_EQ(with_init_symbols().frame_at(now, 1), now);
  EXPECT_EQ(with_init_symbols().modules(),
            (std::vector<model::TraceModule>{{"zram", 40'000, true, false}}));
}

TEST(ModuleHistory, LoadedAgainItIsThere) {
  ModuleHistory history = with_init_symbols();
  ModuleLife gone = zram(0);
  gone.unloaded_at = 2;
  history.add_unload(gone);
  history.add_load(zram(3));
  EXPECT_EQ(history.modules(),
            (std::vector<model::TraceModule>{{"zram", 40'000, true, false}}));
  EXPECT_EQ(history.frame_at(nameless(kInit + 0x40), 3).symbol, "(init)");
}

TEST(ModuleHistory, TheKernelsOwnCodeIsLeftAsItIs) {
  const TraceFrame now = {0xffffffff81000010, "alloc", 0x10, ""};
  EXPECT_EQ(with_init_symbols().frame_at(now, 1), now);
}

TEST(ModuleHistory, AnInitFunctionHasABetterNameThanInitModule) {
  ModuleHistory history;
  const size_t life = history.add_load(zram(1));
  history.add_symbol(life, kInit, "__pfx_zram_init");
  history.add_symbol(life, kInit + 0x10, "init_module");
  history.add_symbol(life, kInit + 0x10, "zram_init");
  EXPECT_EQ(history.frame_at(nameless(kInit + 0x20), 1).symbol, "zram_init");
}

}  // namespace
}  // namespace tidemark::source
