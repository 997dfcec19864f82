// VMs over time as JSON: tidemark.vms/1, and what memstats_chart would draw of
// them: tidemark.memstats_sections/1.
#pragma once

#include <string>
#include <vector>

#include "analysis/memstats_sections.h"
#include "analysis/vm_timeline.h"
#include "base/json.h"

namespace tidemark::view {

std::string vms_json(const analysis::VmTimeline& timeline,
                     base::JsonWriter::Layout layout);

std::string sections_json(
    const std::vector<analysis::MemstatsSection>& sections,
    base::JsonWriter::Layout layout);

}  // namespace tidemark::view
