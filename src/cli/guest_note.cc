#include "cli/guest_note.h"

namespace tidemark::cli {

std::string guest_note(const model::BalloonStats& balloon) {
  std::string words = "balloon_actual " + std::to_string(balloon.balloon_bytes);
  for (size_t i = 0; i < model::kBalloonNames.size(); ++i) {
    if (!balloon.values[i]) continue;
    words += ", " + std::string(model::kBalloonNames[i]) + " " +
             std::to_string(*balloon.values[i]);
  }
  return "guest: " + words;
}

std::string guest_note(const model::GuestAnswer& guest) {
  if (guest.state != model::GuestState::Told || !guest.balloon_bytes) {
    return "guest: does not tell: " + guest.because;
  }
  model::BalloonStats balloon;
  balloon.balloon_bytes = *guest.balloon_bytes;
  for (size_t i = 0; i < model::kBalloonFields.size(); ++i)
    balloon.values[i] = guest.stats[model::kBalloonFields[i]];
  return guest_note(balloon);
}

}  // namespace tidemark::cli
