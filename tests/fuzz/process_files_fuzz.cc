// The small files of /proc/PID: every parser reads every text. Nothing but a
// crash is wrong, save that a comm read back must be part of the text.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/process_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  const std::string text(data, data + size);
  base::Result<model::ProcessStat> stat = parse::parse_stat(text);
  if (stat && text.find("(" + stat->comm + ")") == std::string::npos) {
    std::abort();
  }
  (void)parse::parse_statm(text);
  (void)parse::parse_oom_number(text);
  (void)parse::parse_status(text);
  base::Result<std::vector<int32_t>> children = parse::parse_children(text);
  if (children) {
    for (int32_t pid : *children) {
      if (pid <= 0) std::abort();
    }
  }
  (void)parse::parse_syscall_stack_pointer(text);
  if (!text.starts_with(parse::parse_command_line(text))) std::abort();
  (void)parse::parse_cgroup(text);
  (void)parse::descriptor_kind(text);
  (void)parse::parse_fdinfo_memlock(text);
  return 0;
}
