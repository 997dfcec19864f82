#pragma once

#include <string>

#include "model/moment.h"

namespace tidemark::view {

// One line of JSON Lines, schema "tidemark.export/1": a moment with the
// machine, every process and every mapping.
std::string export_json_line(const model::Moment& moment);

}  // namespace tidemark::view
