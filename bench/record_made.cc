// bench_record_made FILE PROCESSES MAPPINGS TICKS PERIOD_MS CHANGES
//
// Records a made-up machine: so many processes with so many mappings each, of
// which CHANGES per tick (may be a fraction) change, spread over the processes;
// three of four in their PSS alone, as measured on real machines, where
// neighbours come and go. Prints "written_bytes N" (what went to the file
// system, log and copies of it included), "cpu_ns N" and "ticks N".
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "store/recorder.h"

namespace tidemark {
namespace {

using model::Mapping;
using model::SmapsField;

constexpr uint64_t kPage = 4096;

constexpr SmapsField kFields[] = {
    SmapsField::Size,         SmapsField::KernelPageSize,
    SmapsField::MmuPageSize,  SmapsField::Rss,
    SmapsField::Pss,          SmapsField::PssDirty,
    SmapsField::SharedClean,  SmapsField::SharedDirty,
    SmapsField::PrivateClean, SmapsField::PrivateDirty,
    SmapsField::Referenced,   SmapsField::Anonymous,
    SmapsField::Swap,         SmapsField::SwapPss,
    SmapsField::Locked,
};

void set_size(Mapping& mapping, uint64_t resident, uint64_t pss) {
  const bool is_file = mapping.is_file();
  for (SmapsField field : kFields)
    mapping.fields.set(field, 0);
  mapping.fields.set(SmapsField::Size, mapping.size_bytes());
  mapping.fields.set(SmapsField::KernelPageSize, kPage);
  mapping.fields.set(SmapsField::MmuPageSize, kPage);
  mapping.fields.set(SmapsField::Rss, resident);
  mapping.fields.set(SmapsField::Pss, pss);
  mapping.fields.set(SmapsField::Referenced, resident);
  if (is_file) {
    mapping.fields.set(SmapsField::SharedClean, resident);
    return;
  }
  mapping.fields.set(SmapsField::PrivateDirty, resident);
  mapping.fields.set(SmapsField::PssDirty, pss);
  mapping.fields.set(SmapsField::Anonymous, resident);
}

model::Process make_process(int32_t pid, size_t mapping_count,
                            std::mt19937& random) {
  model::Process process;
  process.id = {pid, 1000 + static_cast<uint64_t>(pid)};
  process.stat.pid = pid;
  process.stat.comm = "worker";
  process.stat.thread_count = 1;
  process.command_line = "worker";
  process.statm = model::Statm{40000, 9000, 3000, 500, 8000};
  process.status.peak_rss_bytes = 9100 * kPage;
  process.oom_score = 666;
  process.oom_score_adjustment = 0;
  std::vector<Mapping> mappings(mapping_count);
  uint64_t address = 0x550000000000 + random() % 4096 * kPage;
  for (size_t i = 0; i < mapping_count; ++i) {
    Mapping& mapping = mappings[i];
    mapping.start_address = address;
    mapping.end_address = address + (1 + random() % 64) * kPage;
    address = mapping.end_address + random() % 16 * kPage;
    mapping.permissions = {true, i % 3 == 0, i % 3 == 1, false};
    if (i % 4 != 0) {
      mapping.inode_id = 100 + i % 60;
      mapping.device_major = 8;
      mapping.name = "/usr/lib/library-" + std::to_string(i % 60) + ".so";
    }
    const uint64_t resident = mapping.size_bytes() / kPage / 2 * kPage;
    set_size(mapping, resident, resident);
  }
  process.mappings = model::known(std::move(mappings));
  return process;
}

void change_one(model::Sample& sample, std::mt19937& random) {
  model::Process& process =
      sample.processes[random() % sample.processes.size()];
  std::vector<Mapping>& mappings = *process.mappings.value;
  Mapping& mapping = mappings[random() % mappings.size()];
  const uint64_t pages = mapping.size_bytes() / kPage;
  uint64_t resident = mapping.fields.get_or_zero(SmapsField::Rss);
  const bool is_growth = random() % 4 == 0;
  if (is_growth) {
    resident = random() % (pages + 1) * kPage;
    process.statm->resident_pages = 8000 + random() % 2000;
    process.stat.minor_fault_count += 1 + random() % 20;
  }
  set_size(mapping, resident, resident / (1 + random() % 4));
}

void change_machine(model::Sample& sample, std::mt19937& random) {
  model::MemInfo& info = sample.machine->meminfo;
  info.free_bytes = (4'000'000 + random() % 1000) * 1024;
  info.available_bytes = (6'000'000 + random() % 1000) * 1024;
  info.cached_bytes = (2'000'000 + random() % 1000) * 1024;
  sample.machine->vmstat.fault_count =
      sample.machine->vmstat.fault_count.value_or(0) + random() % 1000;
}

// Everything handed to write() and its kin.
uint64_t written_bytes() {
  std::ifstream file("/proc/self/io");
  std::string word;
  uint64_t value = 0;
  while (file >> word >> value) {
    if (word == "wchar:") return value;
  }
  return 0;
}

int run(const std::vector<std::string>& words) {
  const auto number = [&](size_t i) {
    return base::parse_u64(words[i]).value_or(0);
  };
  const uint64_t ticks = number(3);
  const uint64_t period_ns = number(4) * 1'000'000;
  const double changes = std::strtod(words[5].c_str(), nullptr);
  std::mt19937 random(1);
  model::Sample sample;
  for (uint64_t i = 0; i < number(1); ++i) {
    sample.processes.push_back(
        make_process(static_cast<int32_t>(100 + i), number(2), random));
  }
  sample.machine = model::Machine();
  sample.machine->meminfo.total_bytes = uint64_t{16} << 30;
  sample.machine->meminfo.shmem_bytes = 1 << 20;
  sample.machine->meminfo.buffers_bytes = 1 << 20;
  sample.machine->meminfo.slab_reclaimable_bytes = 1 << 28;
  model::RecordingInfo info;
  info.targets = "a made-up machine";
  info.period_ns = period_ns;
  base::Result<std::unique_ptr<store::Recorder>> recorder =
      store::Recorder::create(words[0], info, {});
  if (!recorder) {
    std::fprintf(stderr, "%s\n", recorder.error().what.c_str());
    return 1;
  }
  const uint64_t cpu_before = base::own_cpu_ns();
  const uint64_t written_before = written_bytes();
  double owed = 0;
  for (uint64_t tick = 0; tick < ticks; ++tick) {
    sample.started_realtime_ns = 1'700'000'000'000'000'000 + tick * period_ns;
    sample.started_monotonic_ns = 1'000'000'000 + tick * period_ns;
    sample.ended_monotonic_ns = sample.started_monotonic_ns + 30'000'000;
    for (owed += changes; owed >= 1; owed -= 1)
      change_one(sample, random);
    change_machine(sample, random);
    base::Status status = (*recorder)->accept(sample);
    if (!status) {
      std::fprintf(stderr, "%s\n", status.error().what.c_str());
      return 1;
    }
  }
  const uint64_t written = written_bytes() - written_before;
  base::Status status = (*recorder)->finish();
  std::printf("written_bytes %llu\ncpu_ns %llu\nticks %llu\n",
              static_cast<unsigned long long>(written),
              static_cast<unsigned long long>(base::own_cpu_ns() - cpu_before),
              static_cast<unsigned long long>(ticks));
  return status ? 0 : 1;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: bench_record_made FILE PROCESSES MAPPINGS TICKS "
                 "PERIOD_MS CHANGES\n");
    return 2;
  }
  return tidemark::run(std::vector<std::string>(argv + 1, argv + argc));
}
