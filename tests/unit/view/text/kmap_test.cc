#include "view/text/kmap.h"

#include <gtest/gtest.h>

#include "unit/json_check.h"
#include "unit/view/json/unknowns.h"
#include "unit/view/text/lines.h"
#include "view/json/kmap.h"

namespace tidemark::view {
namespace {

using analysis::KmapInput;
using model::AddressForm;

KmapInput hostile_input() {
  KmapInput input;
  model::VmallocArea area;
  area.start = 0xffffc90000000000;
  area.end = 0xffffc90000003000;
  area.size_bytes = 0x3000;
  area.caller = "evil\x1b[2J\xff'+0x1/0x2";
  area.pages = 2;
  area.phys = 0xdf000;
  area.kind = model::VmallocKind::Vmalloc;
  input.vmalloc = model::known(model::VmallocInfo{{area}, AddressForm::Real});
  input.meminfo.vmalloc_used_bytes = 0x3000;
  input.iomem = model::known(model::IoMemory{
      {{0, 0xfff, 0, "a\nb"}, {0, UINT64_MAX, 9, "\xe2\x80\xae"}},
      AddressForm::Real});
  input.modules = model::known(
      std::vector<model::KernelModule>{{"m\x1b", 4096, 0xffffffffc0000000}});
  input.symbols = model::unknown<model::KernelSymbols>("denied: \x07");
  input.counters = model::unknown<model::PageCounters>("gone\n");
  input.space = model::unknown<model::KernelSpace>("gone");
  return input;
}

TEST(KmapText, EscapesWhatStrangersChose) {
  const analysis::KmapReport report =
      analysis::make_kmap_report(hostile_input());
  for (bool all : {false, true}) {
    const std::string text = kmap_text(report, {all}, TextStyle());
    EXPECT_TRUE(is_harmless(text)) << text;
    EXPECT_LE(widest_line(text), 80U) << text;
  }
}

TEST(KmapText, ListsAreasByAddressWhenAsked) {
  const analysis::KmapReport report =
      analysis::make_kmap_report(hostile_input());
  TextStyle style;
  style.wide = true;
  EXPECT_NE(kmap_text(report, {true}, style)
                .find(" M ffffc90000000000-ffffc90000003000 12.0K:sz "
                      "8.00K:mem 'evil"),
            std::string::npos);
  EXPECT_NE(kmap_text(report, {false}, style).find("8.00K:mem 1 vmalloc\n"),
            std::string::npos);
}

TEST(KmapJson, IsValidAndGivesReasons) {
  const analysis::KmapReport report =
      analysis::make_kmap_report(hostile_input());
  for (bool all : {false, true}) {
    const std::string json =
        kmap_json(report, base::JsonWriter::Layout::OneLine, all);
    EXPECT_TRUE(json.starts_with(R"({"schema":"tidemark.kmap/1",)"));
    EXPECT_TRUE(test::JsonCheck(json).is_valid()) << json;
    const UnknownsCheck check(json, {});
    EXPECT_TRUE(check.complaints().empty()) << check.complaints().front();
  }
}

}  // namespace
}  // namespace tidemark::view
