// `tidemark doctor --json`, schema tidemark.doctor/1.
#pragma once

#include <string>

#include "analysis/doctor.h"
#include "base/json.h"

namespace tidemark::view {

std::string doctor_json(const analysis::DoctorReport& report,
                        base::JsonWriter::Layout layout);

}  // namespace tidemark::view
