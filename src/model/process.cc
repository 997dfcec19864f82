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

std::string_view detail_tier_name(DetailTier tier) {
  switch (tier) {
    case DetailTier::Counters:
      return "counters";
    case DetailTier::Scan:
      return "scan";
    case DetailTier::Full:
      return "full";
  }
  return "full";
}

RegionHints region_hints(const Process& process,
                         const std::vector<DeviceNumber>& memory_devices) {
  RegionHints hints;
  hints.pid = process.id.pid;
  if (process.threads) hints.threads = *process.threads;
  hints.memory_devices = memory_devices;
  hints.images = process.images;
  return hints;
}

}  // namespace tidemark::model
