#include "model/process.h"

namespace tidemark::model {

std::string_view process_state_name(ProcessState state) {
  switch (state) {
    case ProcessState::Ok:
      return "ok";
    case ProcessState::Denied:
      return "denied";
    case ProcessState::Gone:
      return "gone";
    case ProcessState::Zombie:
      return "zombie";
    case ProcessState::KernelThread:
      return "kernel thread";
    case ProcessState::Failed:
      return "failed";
  }
  return "failed";
}

}  // namespace tidemark::model
