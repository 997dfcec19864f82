#include "analysis/recorded_filter.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/quantities.h"

namespace tidemark::analysis {
namespace {

using test::kMiB;

class RecordedFilterTest : public testing::Test {
 protected:
  void add(int64_t id, const std::vector<std::string>& names) {
    model::RecordedProcess process;
    process.id = id;
    process.process.pid = static_cast<int32_t>(100 + id);
    for (const std::string& name : names) {
      model::RecordedImage image;
      image.comm = name;
      process.images.push_back(image);
    }
    processes_.push_back(process);
  }
  void add_band(int64_t process, model::Category category,
                std::vector<uint64_t> mib) {
    model::Band band;
    band.process = process;
    band.category = category;
    for (size_t i = 0; i < mib.size(); ++i) {
      model::BandShares shares;
      shares.pss_bytes = shares.rss_bytes = mib[i] * kMiB;
      band.points.push_back({i, shares});
    }
    bands_.by_process.push_back(band);
  }
  std::set<int64_t> met(const std::string& text) const {
    return ever_matching(*ProcessFilter::parse(text), processes_, bands_);
  }

  std::vector<model::RecordedProcess> processes_;
  model::Bands bands_;
};

TEST_F(RecordedFilterTest, MeansWhoeverWasCalledSo) {
  add(1, {"sh", "make"});
  add(2, {"cc1"});
  EXPECT_EQ(met("sh"), (std::set<int64_t>{1}));
  EXPECT_EQ(met("make"), (std::set<int64_t>{1}));
  EXPECT_EQ(met("name=cc1"), (std::set<int64_t>{2}));
}

TEST_F(RecordedFilterTest, MeansWhoeverWasSoLargeAtOneMoment) {
  add(1, {"high"});
  add(2, {"low"});
  add(3, {"unread"});
  // Its kinds are above it together, and only once.
  add_band(1, model::Category::Heap, {10, 60, 10});
  add_band(1, model::Category::Anon, {10, 50, 10});
  add_band(2, model::Category::Heap, {60, 10, 90});
  EXPECT_EQ(met("pss>100M"), (std::set<int64_t>{1}));
  EXPECT_EQ(met("pss>80M"), (std::set<int64_t>{1, 2}));
  EXPECT_EQ(met("pss<1000M"), (std::set<int64_t>{1, 2}))
      << "of the third one nothing is known";
}

}  // namespace
}  // namespace tidemark::analysis
