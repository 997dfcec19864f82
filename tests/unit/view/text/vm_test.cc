#include "view/text/vm.h"

#include <gtest/gtest.h>

#include "base/escape.h"

namespace tidemark::view {
namespace {

constexpr uint64_t kMib = uint64_t{1} << 20;

// A guest that tells, under a name of a stranger.
analysis::VmReport telling_report() {
  model::VmScan scan;
  scan.started_realtime_ns = 1'700'000'000'000'000'000;
  model::Vm& vm = scan.vms.emplace_back();
  vm.id = {10, 1};
  vm.kind = model::VmKind::Qemu;
  vm.name = "a\x1b[31m\"b";
  vm.ram.means = model::RamMeans::Size;
  vm.ram.backing = "anonymous memory";
  vm.ram.configured_bytes = model::known(256 * kMib);
  vm.ram.resident_bytes = model::known(200 * kMib);
  for (model::Reading<uint64_t>* reading :
       {&vm.ram.swapped_bytes, &vm.ram.hugetlb_bytes, &vm.ram.thp_bytes,
        &vm.ram.ksm_bytes, &vm.ram.ksm_saved_bytes}) {
    *reading = model::known(uint64_t{0});
  }
  model::VmProcess& monitor = vm.processes.emplace_back();
  monitor.id = vm.id;
  monitor.name = "qemu-system-x86";
  model::SmapsFields own;
  own.set(model::SmapsField::Pss, 100 * kMib);
  monitor.own = model::known(own);
  monitor.ram = model::known(model::SmapsFields());
  vm.guest.state = model::GuestState::Told;
  vm.guest.source = "QMP";
  vm.guest.stats[model::GuestField::Total] = 217 * kMib;
  vm.guest.stats[model::GuestField::Free] = 188 * kMib;
  vm.guest.stats[model::GuestField::Caches] = 3 * kMib;
  vm.guest.balloon_bytes = 0;
  vm.guest.reports_free_pages = false;
  analysis::VmHistory history;
  return analysis::make_vm_report(std::move(scan), history);
}

TEST(VmText, ShowsOneVmWithHowEachBandIsKnown) {
  const std::string text = vm_text(telling_report(), {true, false}, {});
  EXPECT_NE(text.find("  guest used                   26.0 MiB  8.7 %  total - "
                      "balloon - free - caches"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("132 MiB is free in the guest but held by the host."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("cost to the host              300 MiB"),
            std::string::npos)
      << text;
}

TEST(VmText, ShowsNamesThatMoveNoCursor) {
  const std::string text = vm_text(telling_report(), {false, false}, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("\\x1b[31m"), std::string::npos);
}

TEST(VmText, FitsEightyColumns) {
  const std::string text = vm_text(telling_report(), {true, false}, {});
  size_t start = 0;
  for (size_t end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', start)) {
    const std::string line = text.substr(start, end - start);
    EXPECT_LE(base::display_width(line), 80U) << line;
    start = end + 1;
  }
}

TEST(VmText, SaysThatThereIsNone) {
  EXPECT_EQ(vm_text({}, {}, {}), "no VMs are running here\n");
}

}  // namespace
}  // namespace tidemark::view
