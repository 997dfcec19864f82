#include "parse/vm_arguments.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "unit/quantities.h"

namespace tidemark::parse {
namespace {

using model::VmKind;

using test::kMiB;

VmArguments parsed(VmKind kind, std::initializer_list<std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += '\0';
    line += word;
  }
  return parse_vm_arguments(kind, line);
}

TEST(VmArguments, OfQemuTellMemoryNameAndSocket) {
  const VmArguments found = parsed(
      VmKind::Qemu,
      {"qemu-system-x86_64", "-name", "guest=win,,11,debug-threads=on", "-m",
       "4G", "-uuid", "1-2", "-qmp", "unix:/run/a b.sock,server=on,wait=off"});
  EXPECT_EQ(found.name, "win,11");
  EXPECT_EQ(found.uuid, "1-2");
  EXPECT_EQ(found.ram.total_bytes, 4096 * kMiB);
  EXPECT_EQ(found.control_paths, std::vector<std::string>{"/run/a b.sock"});
}

TEST(VmArguments, OfQemuCountMebibytesUnlessSaidOtherwise) {
  EXPECT_EQ(parsed(VmKind::Qemu, {"q", "-m", "256"}).ram.total_bytes,
            256 * kMiB);
  EXPECT_EQ(parsed(VmKind::Qemu, {"q", "-m", "size=2097152k,slots=2,maxmem=8G"})
                .ram.total_bytes,
            2048 * kMiB);
  EXPECT_EQ(parsed(VmKind::Qemu, {"q"}).ram.total_bytes, 128 * kMiB);
  EXPECT_EQ(parsed(VmKind::Qemu, {"q", "-m", "99999999999G"}).ram.total_bytes,
            128 * kMiB)
      << "what cannot be is not read";
}

TEST(VmArguments, OfQemuFindTheMonitorAmongItsChannels) {
  const VmArguments found =
      parsed(VmKind::Qemu,
             {"q", "-chardev", "socket,id=serial,path=/run/serial", "-chardev",
              "socket,id=mon,path=/run/qmp,server=on", "-mon",
              "chardev=mon,mode=control", "-mon", "chardev=serial"});
  EXPECT_EQ(found.control_paths, std::vector<std::string>{"/run/qmp"});
  EXPECT_FALSE(found.control_is_inherited);
}

TEST(VmArguments, OfLibvirtHaveADescriptorForAMonitor) {
  const VmArguments found = parsed(
      VmKind::Qemu,
      {"q", "-m", "size=2097152k", "-object",
       R"({"qom-type":"memory-backend-ram","id":"pc.ram","size":2147483648})",
       "-chardev", "socket,id=charmonitor,fd=24,server=on,wait=off", "-mon",
       "chardev=charmonitor,id=monitor,mode=control"});
  EXPECT_TRUE(found.control_paths.empty());
  EXPECT_TRUE(found.control_is_inherited);
  EXPECT_EQ(found.ram.part_bytes, std::vector<uint64_t>{2048 * kMiB});
}

TEST(VmArguments, OfABalloonTellHowItIsSet) {
  const VmArguments plain =
      parsed(VmKind::Qemu, {"q", "-device", "virtio-balloon-pci,id=b"});
  EXPECT_EQ(plain.deflates_on_oom, false);
  const VmArguments set = parsed(
      VmKind::Qemu,
      {"q", "-device",
       R"({"driver":"virtio-balloon-pci","deflate-on-oom":true,"id":"b"})"});
  EXPECT_EQ(set.deflates_on_oom, true);
  EXPECT_EQ(set.reports_free_pages, false);
  EXPECT_FALSE(parsed(VmKind::Qemu, {"q"}).deflates_on_oom);
}

TEST(VmArguments, OfAMonitorForPeopleAreNoSocketToAsk) {
  EXPECT_TRUE(parsed(VmKind::Qemu, {"q", "-monitor", "unix:/run/hmp,server"})
                  .control_paths.empty());
}

TEST(VmArguments, OfCrosvmTellWhetherItIsAVmAtAll) {
  const VmArguments run =
      parsed(VmKind::Crosvm, {"crosvm", "run", "--mem=1024", "-s", "/run/vm"});
  EXPECT_TRUE(run.starts_vm);
  EXPECT_EQ(run.ram.total_bytes, 1024 * kMiB);
  EXPECT_EQ(run.control_paths, std::vector<std::string>{"/run/vm"});
  EXPECT_FALSE(parsed(VmKind::Crosvm, {"crosvm", "device", "block"}).starts_vm);
}

TEST(VmArguments, OfTheOthersTellTheirSockets) {
  EXPECT_EQ(parsed(VmKind::Firecracker, {"firecracker"}).control_paths,
            std::vector<std::string>{"/run/firecracker.socket"});
  EXPECT_TRUE(parsed(VmKind::Firecracker, {"firecracker", "--no-api"})
                  .control_paths.empty());
  const VmArguments found =
      parsed(VmKind::CloudHypervisor,
             {"cloud-hypervisor", "--api-socket", "path=/run/ch", "--memory",
              "size=512M,shared=on"});
  EXPECT_EQ(found.control_paths, std::vector<std::string>{"/run/ch"});
  EXPECT_EQ(found.ram.total_bytes, 512 * kMiB);
}

}  // namespace
}  // namespace tidemark::parse
