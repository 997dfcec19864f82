#include "view/text/folded.h"

#include <gtest/gtest.h>

#include "unit/view/export_example.h"

namespace tidemark::view {
namespace {

TEST(Folded, IsAStackOfThreeFramesPerObject) {
  EXPECT_EQ(folded_stacks(exported_sample()),
            "a\\x3bb\\n\"c\",d (7);heap;[heap] 8192\n"
            "a\\x3bb\\n\"c\",d (7);file;/x\\x3by, z 4096\n");
}

TEST(Folded, LeavesOutWhatHasNoShare) {
  model::Sample sample = exported_sample();
  sample.processes[0].mappings.value->front().fields.set(model::SmapsField::Pss,
                                                         0);
  EXPECT_EQ(folded_stacks(sample),
            "a\\x3bb\\n\"c\",d (7);file;/x\\x3by, z 4096\n");
}

TEST(Folded, OfNobodyIsEmpty) {
  EXPECT_EQ(folded_stacks({}), "");
}

}  // namespace
}  // namespace tidemark::view
