// A report of `objects` with one of each thing a renderer must get right.
#pragma once

#include "analysis/object_report.h"
#include "unit/view/examples.h"

namespace tidemark::view {

inline analysis::ObjectReport objects_example() {
  using model::ObjectKind;
  analysis::ObjectReport report;
  report.realtime_ns = kExampleTimeNs;
  report.process_count = 2;
  analysis::ObjectRow memfd;
  memfd.id = "memfd:1054";
  memfd.kind = ObjectKind::Memfd;
  memfd.name = "memfd:\x1b[31mred\nline";
  memfd.rights = {true, true, false};
  memfd.map_count = 1;
  memfd.process_count = 1;
  memfd.fd_count = 2;
  memfd.size_bytes = model::known(64 * kMiB);
  memfd.alloc_bytes = model::known(63 * kMiB);
  memfd.swap_bytes = model::known(1 * kMiB);
  memfd.holders = {{{10, 1}, "server", 1, 2, {true, true, false}}};
  report.rows.push_back(memfd);
  analysis::ObjectRow device;
  device.id = "device:00:06:85";
  device.kind = ObjectKind::Device;
  device.name = "/dev/dri/renderD128";
  device.size_bytes = model::unknown<uint64_t>("a device has no size");
  device.alloc_bytes = model::unknown<uint64_t>("device memory");
  device.swap_bytes = model::known<uint64_t>(0);
  report.rows.push_back(device);
  analysis::ObjectRow denied;
  denied.id = "shared:7";
  denied.kind = ObjectKind::SharedAnon;
  denied.name = "shared anonymous";
  denied.size_bytes = denied.alloc_bytes = denied.swap_bytes =
      model::unknown<uint64_t>("denied: map_files");
  report.rows.push_back(denied);
  model::ObjectProcess unreadable;
  unreadable.id.pid = 1;
  unreadable.name = "init";
  unreadable.state = model::ProcessState::Denied;
  unreadable.unknown_because = "denied: /proc/1/maps: Permission denied";
  unreadable.rss_bytes = 2 * kMiB;
  report.unreadable = {unreadable};
  // 79.3 MiB = 63.9 MiB + 15.4 MiB.
  analysis::ObjectAccount shmem;
  shmem.total_bytes = 83152077;
  shmem.named = model::amount_of(67004006);
  shmem.rest_bytes = 16148071;
  report.shmem = shmem;
  report.file_cache = shmem;
  return report;
}

}  // namespace tidemark::view
