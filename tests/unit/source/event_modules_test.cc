#include "source/event_modules.h"

#include <gtest/gtest.h>

#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

using model::TraceFrame;

constexpr std::string_view kKernel = "ffffffff81000000 T alloc\n";
constexpr std::string_view kZram =
    "ffffffffc0000000 t zram_write\t[zram]\n"
    "ffffffffc0000100 t disksize_store\t[zram]\n";
constexpr std::string_view kZramInit =
    "ffffffffc0010000 t zram_init\t[zram]\n"
    "ffffffffc0010000 t init_module\t[zram]\n";

TraceFrame nameless(uint64_t address) {
  return {address, {}, 0, {}, {}};
}

class EventModulesTest : public testing::Test {
 protected:
  EventModulesTest() : roots_(tree_.roots()) { put(std::string(kKernel)); }

  void put(const std::string& symbols) { tree_.add("kallsyms", symbols); }
  // What is told of a module beside its symbols.
  void put_sections(const std::string& module, const std::string& init_size) {
    tree_.add("module/" + module + "/sections/.text", "0xffffffffc0000000\n");
    tree_.add("module/" + module + "/sections/.init.text",
              "0xffffffffc0010000\n");
    tree_.add("module/" + module + "/coresize", "8192\n");
    tree_.add("module/" + module + "/initsize", init_size + "\n");
  }
  EventModules made() {
    EventModules modules(roots_, tree_.path("module"));
    modules.begin(notes_);
    EXPECT_TRUE(notes_.empty()) << notes_[0];
    return modules;
  }
  test::TemporaryTree tree_;
  Roots roots_;
  std::vector<std::string> notes_;
};

TEST_F(EventModulesTest, OneThatComesHasTheNamesOfItsInit) {
  EventModules modules = made();
  put(std::string(kKernel) + std::string(kZramInit) + std::string(kZram));
  put_sections("zram", "4096");
  const uint32_t number = modules.came("zram");
  modules.look();
  // By the time it is its turn, init is gone.
  put(std::string(kKernel) + std::string(kZram));
  modules.loaded(number, 7);
  EXPECT_EQ(modules.time(), 1U);
  const TraceFrame init =
      modules.history().frame_at(nameless(0xffffffffc0010020), 1);
  EXPECT_EQ(init,
            (TraceFrame{0xffffffffc0010020, "zram_init", 0x20, "zram", {}}));
  ASSERT_EQ(modules.history().lives().size(), 1U);
  const ModuleLife& life = modules.history().lives()[0];
  EXPECT_EQ(life.text, (CodeSpan{0xffffffffc0000000, 4096}));
  EXPECT_EQ(life.init, (CodeSpan{0xffffffffc0010000, 4096}));
  EXPECT_EQ(life.image_bytes, 8192U);
}

TEST_F(EventModulesTest, InitThatIsOverIsStillKnownToBeInit) {
  EventModules modules = made();
  put(std::string(kKernel) + std::string(kZram) +
      "ffffffffc0012000 t loop_add\t[loop]\n");
  put_sections("zram", "0");
  const uint32_t number = modules.came("zram");
  modules.look();
  modules.loaded(number, 7);
  const TraceFrame init =
      modules.history().frame_at(nameless(0xffffffffc0010020), 1);
  EXPECT_EQ(init.symbol, "(init)");
  EXPECT_EQ(init.module, "zram");
  EXPECT_EQ(modules.history().lives()[0].init.bytes, 0x2000U)
      << "code of another one is not its own";
}

TEST_F(EventModulesTest, OneFromBeforeKeepsItsNamesWhenItGoes) {
  put(std::string(kKernel) + std::string(kZram));
  put_sections("zram", "0");
  EventModules modules = made();
  put(std::string(kKernel));
  tree_.remove("module/zram");
  modules.unloaded(modules.went("zram"));
  const TraceFrame frame =
      modules.history().frame_at(nameless(0xffffffffc0000110), 0);
  EXPECT_EQ(frame.symbol, "disksize_store");
  EXPECT_EQ(frame.module, "zram");
  EXPECT_TRUE(modules.history().modules()[0].was_unloaded);
}

TEST_F(EventModulesTest, OneThatCameBackElsewhereIsAnother) {
  put(std::string(kKernel) + std::string(kZram));
  put_sections("zram", "0");
  EventModules modules = made();
  modules.unloaded(modules.went("zram"));
  put(std::string(kKernel) + "ffffffffc0500000 t zram_again\t[zram]\n");
  tree_.add("module/zram/sections/.text", "0xffffffffc0500000\n");
  const uint32_t number = modules.came("zram");
  modules.look();
  modules.loaded(number, 7);
  const auto symbol_at = [&](uint64_t address, uint32_t time) {
    return modules.history().frame_at(nameless(address), time).symbol;
  };
  EXPECT_EQ(symbol_at(0xffffffffc0000010, 0), "zram_write");
  EXPECT_EQ(symbol_at(0xffffffffc0000010, 2), "");
  EXPECT_EQ(modules.history().lives()[1].text.first, 0xffffffffc0500000);
}

TEST_F(EventModulesTest, OneThatIsGoneWhenLookedAtIsCounted) {
  EventModules modules = made();
  const uint32_t number = modules.came("zram");
  const uint32_t end = modules.went("zram");
  EXPECT_EQ(number, end);
  modules.look();
  modules.loaded(number, 7);
  modules.unloaded(end);
  modules.add_losses(notes_);
  ASSERT_EQ(notes_.size(), 1U);
  EXPECT_TRUE(notes_[0].starts_with("1 modules were gone")) << notes_[0];
}

TEST_F(EventModulesTest, ALoadHasANumberBeforeItHasAName) {
  EventModules modules = made();
  const uint32_t load = modules.load_of(7, false);
  EXPECT_EQ(load, 1U);
  EXPECT_EQ(modules.load_of(7, false), load) << "still the same";
  EXPECT_EQ(modules.load_of(8, false), 2U) << "another thread loads another";
  EXPECT_EQ(modules.name_of(load), "");
  modules.loaded(modules.came("zram"), 7);
  EXPECT_EQ(modules.name_of(load), "zram");
  EXPECT_EQ(modules.load_of(7, true), load);
  EXPECT_EQ(modules.load_of(7, false), 3U) << "here begins the next";
  EXPECT_EQ(modules.load_of(9, true), 0U) << "it began before the trace";
}

TEST_F(EventModulesTest, WithoutNamesANoteSaysSo) {
  put("0000000000000000 T alloc\n");
  EventModules modules(roots_, tree_.path("module"));
  modules.begin(notes_);
  ASSERT_EQ(notes_.size(), 1U);
  put_sections("zram", "0");
  const uint32_t number = modules.came("zram");
  modules.look();
  modules.loaded(number, 7);
  EXPECT_EQ(modules.history().frame_at(nameless(0xffffffffc0010020), 1).symbol,
            "(init)");
}

}  // namespace
}  // namespace tidemark::source
