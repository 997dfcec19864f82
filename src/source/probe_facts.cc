// Who asks and what kernel this is: plain reads, nothing is tried here.
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/units.h"
#include "parse/machine_files.h"
#include "source/probe.h"
#include "source/probe_parts.h"

namespace tidemark::source {
namespace {

using model::KernelFact;

struct NamedCapability {
  unsigned bit;
  const char* name;
};
// Numbers are kernel ABI. Only those tidemark has a use for.
constexpr std::array<NamedCapability, 8> kCapabilities = {{
    {2, "dac_read_search"},
    {3, "fowner"},
    {12, "net_admin"},
    {19, "sys_ptrace"},
    {21, "sys_admin"},
    {34, "syslog"},
    {38, "perfmon"},
    {39, "bpf"},
}};

std::vector<std::string> capability_names(uint64_t set) {
  std::vector<std::string> names;
  for (const NamedCapability& capability : kCapabilities) {
    if (set >> capability.bit & 1) names.emplace_back(capability.name);
  }
  return names;
}

void read_own_status(const Roots& roots, model::DoctorFacts& facts) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/status");
  if (!text) return;
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view value = base::take_line(rest);
    const std::string_view label = base::take_until(value, ':');
    const std::optional<uint64_t> set = base::parse_hex(base::trim(value));
    if (label == "CapEff" && set) facts.effective = capability_names(*set);
    if (label == "CapBnd" && set) facts.bounding = capability_names(*set);
    if (label == "NoNewPrivs") facts.no_new_privs = set.value_or(0) == 1;
  }
}

// The first user namespace maps every user to itself, and only that one does.
bool is_inner_user_namespace(const Roots& roots) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, "self/uid_map");
  if (!text) return false;  // a kernel without user namespaces
  std::string_view rest = *text;
  std::string_view line = base::take_line(rest);
  return base::take_word(line) != "0" || base::take_word(line) != "0" ||
         base::take_word(line) != "4294967295";
}

// The first line, for settings; nothing when it cannot be read.
std::optional<std::string> setting(const base::Directory& directory,
                                   const std::string& name) {
  base::Result<std::string> text = base::read_file_at(directory, name);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  return std::string(base::trim(base::take_line(rest)));
}

// "always [madvise] never" to "madvise".
std::string chosen(std::string_view options) {
  const size_t open = options.find('[');
  const size_t close = options.find(']');
  if (open == std::string_view::npos || close < open) {
    return std::string(options);
  }
  return std::string(options.substr(open + 1, close - open - 1));
}

struct Meaning {
  std::string_view value;
  std::string_view means;
};

KernelFact explained(std::string_view name,
                     const std::optional<std::string>& value,
                     const std::vector<Meaning>& meanings) {
  KernelFact fact{std::string(name), value.value_or("absent"), {}};
  for (const Meaning& meaning : meanings) {
    if (meaning.value == fact.value) fact.means = meaning.means;
  }
  return fact;
}

void add_sysctls(const base::Directory& proc, std::vector<KernelFact>& facts) {
  facts.push_back(explained("kptr_restrict",
                            setting(proc, "sys/kernel/kptr_restrict"),
                            {{"0", "vmallocinfo shows hashes, also to root"},
                             {"1", "kernel addresses are for cap_syslog"},
                             {"2", "kernel addresses are for nobody"}}));
  facts.push_back(explained(
      "perf_event_paranoid", setting(proc, "sys/kernel/perf_event_paranoid"),
      {{"-1", "perf open to all"},
       {"0", "perf of the whole machine for all, no raw tracepoints"},
       {"1", "perf of own processes, their kernel side too"},
       {"2", "perf of own processes, user side only"},
       {"3", "perf for cap_perfmon only"},
       {"4", "perf for cap_perfmon only"}}));
  facts.push_back(
      explained("unprivileged_bpf_disabled",
                setting(proc, "sys/kernel/unprivileged_bpf_disabled"),
                {{"0", "some BPF for all users"},
                 {"1", "BPF for cap_bpf only, until the next boot"},
                 {"2", "BPF for cap_bpf only"}}));
  facts.push_back(explained("ptrace_scope",
                            setting(proc, "sys/kernel/yama/ptrace_scope"),
                            {{"0", "takes nothing away"},
                             {"1", "thread stacks of your children only"},
                             {"2", "thread stacks for cap_sys_ptrace only"},
                             {"3", "thread stacks of others for nobody"},
                             {"absent", "takes nothing away"}}));
}

KernelFact swap_fact(const base::Directory& proc) {
  base::Result<std::string> text = base::read_file_at(proc, "meminfo");
  if (!text) return {"swap", "?", text.error().what};
  base::Result<model::MemInfo> info = parse::parse_meminfo(*text);
  if (!info) return {"swap", "?", info.error().what};
  if (!info->swap_total_bytes) return {"swap", "absent", ""};
  if (*info->swap_total_bytes == 0) return {"swap", "none", "no swap is on"};
  return {"swap", base::long_size(*info->swap_total_bytes), ""};
}

KernelFact zram_fact(const base::Directory& sys) {
  base::Result<base::Directory> block = base::open_directory_at(sys, "block");
  if (!block) return {"zram", "?", block.error().what};
  base::Result<std::vector<std::string>> names = base::list_directory(*block);
  if (!names) return {"zram", "?", names.error().what};
  uint64_t device_count = 0;
  uint64_t size_bytes = 0;
  for (const std::string& name : *names) {
    if (!name.starts_with("zram")) continue;
    ++device_count;
    std::optional<std::string> size = setting(*block, name + "/disksize");
    size_bytes += size ? base::parse_u64(*size).value_or(0) : 0;
  }
  if (device_count == 0) return {"zram", "absent", ""};
  if (size_bytes == 0) return {"zram", "unused", "a device of size 0"};
  return {"zram", base::long_size(size_bytes), ""};
}

void add_sysfs(const base::Directory& sys, std::vector<KernelFact>& facts) {
  std::optional<std::string> lockdown =
      setting(sys, "kernel/security/lockdown");
  if (lockdown) lockdown = chosen(*lockdown);
  facts.push_back(
      explained("lockdown", lockdown,
                {{"none", "takes nothing away"},
                 {"integrity", "reading stays possible"},
                 {"confidentiality", "no perf and no BPF reads, also for root"},
                 {"absent", "not built, or securityfs is not mounted"}}));
  facts.push_back(zram_fact(sys));
  facts.push_back(explained("zswap",
                            setting(sys, "module/zswap/parameters/enabled"),
                            {{"Y", "on"}, {"N", "off"}}));
  std::optional<std::string> huge =
      setting(sys, "kernel/mm/transparent_hugepage/enabled");
  if (huge) huge = chosen(*huge);
  facts.push_back(explained("transparent_hugepage", huge, {}));
  facts.push_back(explained("nr_hugepages",
                            setting(sys,
                                    "kernel/mm/hugepages/"
                                    "hugepages-2048kB/nr_hugepages"),
                            {{"0", "no huge pages of 2 MiB are set aside"}}));
  facts.push_back(explained("ksm", setting(sys, "kernel/mm/ksm/run"),
                            {{"0", "off"}, {"1", "on"}, {"2", "undone"}}));
}

}  // namespace

model::DoctorFacts probe_facts(const Roots& roots) {
  model::DoctorFacts facts;
  facts.proc_path = roots.proc.path;
  facts.is_live = roots.is_live;
  facts.user_id = ::geteuid();
  facts.kernel_release =
      setting(roots.proc, "sys/kernel/osrelease").value_or("");
  add_sysctls(roots.proc, facts.kernel);
  facts.kernel.push_back(swap_fact(roots.proc));
  if (!roots.is_live) {
    // Absent from a copy is not absent from the kernel.
    std::erase_if(facts.kernel, [](const KernelFact& fact) {
      return fact.value == "absent";
    });
    return facts;
  }
  facts.kernel.push_back({"cgroup", cgroup_layout(roots), ""});
  utsname names{};
  if (::uname(&names) == 0) {
    facts.machine = names.machine;
    if (facts.kernel_release.empty()) facts.kernel_release = names.release;
  }
  read_own_status(roots, facts);
  facts.in_user_namespace = is_inner_user_namespace(roots);
  base::Result<base::Directory> sys = base::open_directory("/sys");
  if (sys) add_sysfs(*sys, facts.kernel);
  return facts;
}

}  // namespace tidemark::source
