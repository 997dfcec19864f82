#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"
#include "model/mapping.h"

namespace tidemark::view {

// Addresses are text: 2^53 is all a JSON reader must keep of a number.
std::string json_address(uint64_t address);

// The members of one mapping, into an object that is open. Fields its kernel
// did not print are left out.
void write_mapping_members(base::JsonWriter& json,
                           const model::Mapping& mapping);

}  // namespace tidemark::view
