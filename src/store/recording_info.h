// The table `recording`: what a recording says about itself.
#pragma once

#include "base/result.h"
#include "model/recording.h"
#include "store/database.h"

namespace tidemark::store {

base::Status write_info(Database& database, const model::RecordingInfo& info);
base::Result<model::RecordingInfo> read_info(Database& database);

}  // namespace tidemark::store
