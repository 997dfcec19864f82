// What a guest tells, as a note of a recording: there is no column for a guest,
// and the words keep every number. One form for what is recorded and imported.
#pragma once

#include <string>

#include "model/memstats.h"
#include "model/vm.h"

namespace tidemark::cli {

// "guest: balloon_actual 0, free_memory 5, …".
std::string guest_note(const model::BalloonStats& balloon);

// The same of a live guest; why not, where it does not tell.
std::string guest_note(const model::GuestAnswer& guest);

}  // namespace tidemark::cli
