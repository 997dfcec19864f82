// Joins a recording and what it says of itself: what `info` and `report` share.
#pragma once

#include "analysis/info_report.h"
#include "base/result.h"
#include "store/recording.h"

namespace tidemark::cli {

base::Result<analysis::InfoReport> recorded_info(
    const store::Recording& recording);
// Without the sizes of tables and what kept growing, for which everything must
// be read.
base::Result<analysis::InfoReport> recorded_head(
    const store::Recording& recording);

}  // namespace tidemark::cli
