#include "view/json/use.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/view/examples.h"

namespace tidemark::view {
namespace {

using base::JsonWriter;

template <typename Write>
std::string written(const Write& write) {
  JsonWriter json(JsonWriter::Layout::OneLine);
  json.begin_object();
  write(json);
  json.end_object();
  return json.take();
}

std::string use_json(const analysis::Use& use) {
  return written([&](JsonWriter& json) { write_use(json, use); });
}

TEST(UseJson, HasEveryMeasureInBytes) {
  EXPECT_EQ(use_json(known_use()),
            R"({"in_ram_bytes":6291456,"pss_bytes":6291456,)"
            R"("uss_bytes":4194304,"shared_bytes":3145728,)"
            R"("rss_bytes":7340032,"pss_anon_bytes":5242880,)"
            R"("pss_file_bytes":1048576,"pss_shmem_bytes":0,)"
            R"("swap_pss_bytes":2097152,"hugetlb_bytes":0,)"
            R"("kernel_bytes":65536})"
            "\n");
}

TEST(UseJson, InRamIsPssAndHugePages) {
  analysis::Use use = known_use();
  use.hugetlb = model::amount_of(2 * kMiB);
  EXPECT_TRUE(use_json(use).starts_with(
      R"({"in_ram_bytes":8388608,"pss_bytes":6291456,)"))
      << use_json(use);
}

TEST(UseJson, AnUnknownIsNull) {
  const std::string json = use_json(denied_use());
  EXPECT_TRUE(json.starts_with(
      R"({"in_ram_bytes":null,"pss_bytes":null,"uss_bytes":null,)"))
      << json;
  EXPECT_EQ(json.find("lower_bounds"), std::string::npos) << json;
}

TEST(UseJson, ALowerBoundIsANumberThatIsListed) {
  const std::string json = use_json(bounded_use());
  EXPECT_TRUE(json.starts_with(R"({"in_ram_bytes":6291456,)")) << json;
  EXPECT_TRUE(json.ends_with(
      R"("lower_bounds":["in_ram_bytes","pss_bytes","uss_bytes",)"
      R"("shared_bytes","pss_anon_bytes","pss_file_bytes",)"
      R"("pss_shmem_bytes","swap_pss_bytes","hugetlb_bytes"]})"
      "\n"))
      << json;
}

TEST(UseJson, OnlyTheNumbersThatAreBoundsAreListed) {
  analysis::Use use = known_use();
  use.kernel.add(std::nullopt);
  EXPECT_TRUE(use_json(use).ends_with(
      R"("kernel_bytes":65536,"lower_bounds":["kernel_bytes"]})"
      "\n"))
      << use_json(use);
}

TEST(UnknownJson, NamesTheReasonForEach) {
  EXPECT_EQ(written([](JsonWriter& json) {
              write_unknown(json, {{"pss_bytes", "denied: /proc/1/smaps"}});
            }),
            R"({"unknown":{"pss_bytes":"denied: /proc/1/smaps"}})"
            "\n");
}

TEST(UnknownJson, IsLeftOutWhenAllIsKnown) {
  EXPECT_EQ(written([](JsonWriter& json) { write_unknown(json, {}); }), "{}\n");
}

TEST(CategoriesJson, UseTheTokensOfTheContract) {
  analysis::CategoryUse code;
  code.category = model::Category::Code;
  code.mapping_count = 3;
  code.size_bytes = 12288;
  code.rss_bytes = 8192;
  code.pss_bytes = 6144;
  code.private_bytes = 4096;
  code.swap_pss_bytes = 1024;
  EXPECT_EQ(written([&](JsonWriter& json) { write_categories(json, {code}); }),
            R"({"categories":[{"category":"code","mapping_count":3,)"
            R"("size_bytes":12288,"rss_bytes":8192,"pss_bytes":6144,)"
            R"("uss_bytes":4096,"swap_pss_bytes":1024}]})"
            "\n");
}

TEST(HeadJson, HasSchemaTimeAndCost) {
  EXPECT_EQ(written([](JsonWriter& json) {
              write_head(json, "tidemark.x/1", kExampleTimeNs, 21);
            }),
            R"({"schema":"tidemark.x/1",)"
            R"("time":"2025-11-15T08:11:08.123456789Z","read_ns":21})"
            "\n");
}

}  // namespace
}  // namespace tidemark::view
