// The files of the whole machine: every parser reads every text.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/machine_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  const std::string text(data, data + size);
  (void)parse::parse_meminfo(text);
  (void)parse::parse_zoneinfo(text);
  base::Result<std::vector<parse::Mount>> mounts = parse::parse_mountinfo(text);
  if (mounts) {
    for (const parse::Mount& mount : *mounts) {
      if (mount.type.empty()) std::abort();
    }
  }
  (void)parse::parse_vmstat(text);
  (void)parse::parse_pressure(text);
  (void)parse::parse_zram(text);
  (void)parse::parse_cgroup_number(text);
  (void)parse::parse_group_stat(text, model::CgroupVersion::V1);
  (void)parse::parse_group_stat(text, model::CgroupVersion::V2);
  (void)parse::lists_controller(text, "memory");
  for (const parse::UserName& user : parse::parse_passwd(text)) {
    if (user.name.empty()) std::abort();
  }
  return 0;
}
