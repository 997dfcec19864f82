#pragma once

#include <string>

#include "analysis/ps_report.h"
#include "base/json.h"

namespace tidemark::view {

// "cgroup", "parent", …: the words of --by.
std::string_view group_by_token(analysis::GroupBy group_by);

// Schema "tidemark.ps/1": groups and processes as flat lists, each with the id
// of the group it is in. Made from an unfolded report. With `groups_only` the
// list of processes is left out.
std::string ps_json(const analysis::PsReport& report,
                    base::JsonWriter::Layout layout, bool groups_only = false);

}  // namespace tidemark::view
