// `tidemark doctor` as plain text of 80 columns. A line to paste is broken with
// a backslash where the shell, or systemd, joins it again.
#pragma once

#include <string>

#include "analysis/doctor.h"
#include "view/text/style.h"

namespace tidemark::view {

std::string doctor_text(const analysis::DoctorReport& report,
                        const TextStyle& style);

}  // namespace tidemark::view
