#include "source/vm/vm_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "base/escape.h"
#include "base/text.h"
#include "parse/smaps.h"

namespace tidemark::source {
namespace {

ProcessDetail vm_detail() {
  ProcessDetail detail;
  // Two files read one after the other contradict each other while a guest
  // frees memory, so the sums are made of the mappings.
  detail.rollup = false;
  detail.mappings = true;
  return detail;
}

model::GuestAnswer not_asked() {
  model::GuestAnswer answer;
  answer.because = "the guest was not asked";
  return answer;
}

bool is_target(const FoundVm& vm, const std::string& word) {
  return base::parse_pid(word) == vm.id.pid || vm.arguments.name == word ||
         vm.arguments.uuid == word || vm.comm == word;
}

}  // namespace

VmSource::VmSource(const Roots& roots, VmScanOptions options)
    : roots_(roots),
      options_(std::move(options)),
      cgroups_(CgroupHierarchy::find(roots)),
      reader_(roots_, cgroups_, vm_detail()),
      file_systems_(roots.is_live),
      finder_(roots),
      panel_(roots, options_.question) {}

// Words that meant a VM once may mean none later: it has ended.
base::Status VmSource::choose_targets(VmSearch& search) {
  std::vector<FoundVm> chosen;
  for (const std::string& word : options_.targets) {
    const size_t before = chosen.size();
    std::ranges::copy_if(
        search.vms, std::back_inserter(chosen),
        [&](const FoundVm& vm) { return is_target(vm, word); });
    if (chosen.size() > before || has_found_targets_) continue;
    return base::fail(base::ErrorKind::NotFound,
                      "no VM is called '" + base::visible(word) + "'",
                      "`tidemark vm` lists them, by name and pid");
  }
  if (chosen.empty()) {
    return base::fail(base::ErrorKind::Gone, "all VMs named have ended");
  }
  has_found_targets_ = true;
  std::ranges::sort(chosen, {}, [](const FoundVm& vm) { return vm.id.pid; });
  // Not std::ranges::unique, whose result clang 14 cannot take apart.
  const auto repeated = std::unique(
      chosen.begin(), chosen.end(),
      [](const FoundVm& a, const FoundVm& b) { return a.id.pid == b.id.pid; });
  chosen.erase(repeated, chosen.end());
  search.vms = std::move(chosen);
  return base::Ok{};
}

base::Result<VmSearch> VmSource::search(uint64_t now_ns) {
  base::Result<VmSearch> search = finder_.find(now_ns);
  if (!search || options_.targets.empty()) return search;
  base::Status status = choose_targets(*search);
  if (!status) return status.error();
  return search;
}

base::Result<std::vector<FoundVm>> VmSource::choose() {
  base::Result<VmSearch> found = search(base::monotonic_ns());
  if (!found) return found.error();
  return std::move(found->vms);
}

// Reading maps of all processes is the price of finding who shares: it is paid
// for each round of the search and for a new VM, else for new processes alone.
void VmSource::read_sharers(const VmSearch& search, bool is_all) {
  const bool is_shared = std::ranges::any_of(hosts_, [](const auto& entry) {
    return !entry.second.objects().empty();
  });
  if (!is_shared) return;
  std::map<Key, std::vector<int32_t>> found;
  std::string text;
  for (int32_t pid : is_all ? search.other_pids : search.fresh_other_pids) {
    if (!base::read_file_at(roots_.proc, std::to_string(pid) + "/maps", text)) {
      continue;
    }
    const base::Result<std::vector<model::Mapping>> mappings =
        parse::parse_maps(text);
    if (!mappings) continue;
    for (const auto& [key, host] : hosts_) {
      const bool shares = std::ranges::any_of(
          *mappings, [&, &host = host](const model::Mapping& mapping) {
            return is_of_any(mapping, host.objects());
          });
      if (shares) found[key].push_back(pid);
    }
  }
  for (auto& [key, host] : hosts_)
    host.share_with(tools(), found[key], is_all);
}

void VmSource::read_hosts(const VmSearch& search, uint64_t now_ns) {
  std::map<Key, VmHost> before = std::exchange(hosts_, {});
  bool has_new = false;
  for (const FoundVm& vm : search.vms) {
    const Key key(vm.id.pid, vm.id.start_ticks);
    auto known = before.find(key);
    has_new = has_new || known == before.end();
    VmHost host = known == before.end() ? VmHost(vm) : std::move(known->second);
    host.find_again(vm);
    if (host.read(tools(), now_ns)) hosts_.emplace(key, std::move(host));
  }
  read_sharers(search, search.is_round || has_new);
}

base::Result<model::VmScan> VmSource::scan() {
  model::VmScan scan;
  scan.started_realtime_ns = base::realtime_ns();
  scan.started_monotonic_ns = base::monotonic_ns();
  base::Result<VmSearch> found = search(scan.started_monotonic_ns);
  if (!found) return found.error();
  scan.unseen_count = found->unseen_count;
  const std::vector<FoundVm>& vms = found->vms;
  if (options_.asks_guests) panel_.ask(vms);
  read_hosts(*found, scan.started_monotonic_ns);
  std::vector<model::GuestAnswer> answers(vms.size(), not_asked());
  if (options_.asks_guests) {
    answers = panel_.answers(vms, options_.patience_ns);
  }
  for (size_t i = 0; i < vms.size(); ++i) {
    const auto host = hosts_.find(Key(vms[i].id.pid, vms[i].id.start_ticks));
    if (host == hosts_.end()) continue;
    host->second.learn_ram(tools(), answers[i]);
    if (host->second.vm().processes.empty()) continue;
    model::Vm& vm = scan.vms.emplace_back(host->second.vm());
    vm.guest = std::move(answers[i]);
  }
  scan.ended_monotonic_ns = base::monotonic_ns();
  return scan;
}

}  // namespace tidemark::source
