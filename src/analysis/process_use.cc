#include "analysis/process_use.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/page_shares.h"
#include "base/text.h"

namespace tidemark::analysis {
namespace {

using model::Amount;
using model::amount_of;
using model::Process;
using model::ProcessState;
using model::SmapsField;
using model::SmapsFields;

constexpr size_t kCommBytes = 15;  // TASK_COMM_LEN - 1

// Programs whose first argument says more than their own name.
bool is_interpreter(std::string_view program) {
  constexpr std::string_view kInterpreters[] = {
      "python", "perl", "ruby", "node", "bash", "sh", "dash", "lua", "php",
  };
  return std::ranges::any_of(kInterpreters, [&](std::string_view name) {
    if (!program.starts_with(name)) return false;
    // python3.11 counts, shutdown does not.
    const std::string_view rest = program.substr(name.size());
    return rest.find_first_not_of("0123456789.") == std::string_view::npos;
  });
}

std::string_view strip_login_dash(std::string_view program) {
  if (program.starts_with('-')) program.remove_prefix(1);
  return program;
}

void set_memory(Use& use, const SmapsFields& fields) {
  use.pss = amount_of(fields.get(SmapsField::Pss));
  use.uss = amount_of(model::uss_bytes(fields));
  use.shared = amount_of(model::shared_bytes(fields));
  use.rss = amount_of(fields.get(SmapsField::Rss));
  use.pss_anon = amount_of(fields.get(SmapsField::PssAnon));
  use.pss_file = amount_of(fields.get(SmapsField::PssFile));
  use.pss_shmem = amount_of(fields.get(SmapsField::PssShmem));
  use.swap_pss = amount_of(fields.get(SmapsField::SwapPss));
  use.hugetlb = amount_of(model::hugetlb_bytes(fields));
}

std::optional<uint64_t> rss_without_smaps(const Process& process,
                                          const KernelCosts& costs) {
  if (process.statm) {
    return process.statm->resident_pages * costs.page_size_bytes;
  }
  return process.status.rss_bytes;
}

}  // namespace

std::string display_name(const Process& process) {
  const std::string& comm = process.stat.comm;
  if (process.stat.is_kernel_thread) return "[" + comm + "]";
  // Not even a name is told of processes that hidepid hides.
  if (process.command_line.empty()) return comm.empty() ? "?" : comm;
  std::string_view rest = process.command_line;
  const std::string_view first = base::take_until(rest, '\0');
  // A rewritten title: "postgres: checkpointer", "sshd: ann [priv]".
  if (first.find(": ") != std::string_view::npos) return std::string(first);
  const std::string_view program = strip_login_dash(base::base_name(first));
  // A name that does not begin with comm was set on purpose, or is a script
  // that its interpreter runs under its own name.
  if (program.substr(0, kCommBytes) != comm) return comm;
  const std::string_view second = base::take_until(rest, '\0');
  if (is_interpreter(program) && !second.empty() && !second.starts_with('-')) {
    return std::string(program) + " " + std::string(base::base_name(second));
  }
  return std::string(program);
}

std::string command_text(const Process& process) {
  std::string text = process.command_line;
  std::ranges::replace(text, '\0', ' ');
  return text;
}

Amount Use::in_ram() const {
  Amount sum = pss;
  sum.bytes += hugetlb.bytes;
  return sum;
}

void Use::add(const Use& other) {
  pss.add(other.pss);
  uss.add(other.uss);
  shared.add(other.shared);
  rss.add(other.rss);
  pss_anon.add(other.pss_anon);
  pss_file.add(other.pss_file);
  pss_shmem.add(other.pss_shmem);
  swap_pss.add(other.swap_pss);
  hugetlb.add(other.hugetlb);
  kernel.add(other.kernel);
  bounded_file_bytes += other.bounded_file_bytes;
  bounded_shmem_bytes += other.bounded_shmem_bytes;
}

Use use_of(const Process& process, const KernelCosts& costs) {
  Use use;
  if (process.state == ProcessState::KernelThread ||
      process.state == ProcessState::Zombie) {
    // No address space: these are true zeros.
    for (Amount* none :
         {&use.pss, &use.uss, &use.shared, &use.rss, &use.pss_anon,
          &use.pss_file, &use.pss_shmem, &use.swap_pss, &use.hugetlb}) {
      *none = amount_of(0);
    }
    // The stack of a zombie is given back when it ends.
    const bool has_stack = process.state == ProcessState::KernelThread;
    use.kernel.add(has_stack ? costs.stack_bytes : 0);
    return use;
  }
  const uint64_t threads =
      process.status.thread_count.value_or(process.stat.thread_count);
  use.kernel.add(threads * costs.stack_bytes);
  use.kernel.add(process.status.page_table_bytes);
  if (process.descriptors) {
    for (const model::DescriptorCount& kind : *process.descriptors) {
      use.kernel.add(kind.kernel_bytes);
    }
  }
  if (!process.rollup) {
    set_memory(use, SmapsFields());
    use.rss = amount_of(rss_without_smaps(process, costs));
    return use;
  }
  set_memory(use, *process.rollup);
  use.pss.has_estimate = process.is_estimated;
  use.pss.has_bound = process.unsplit != model::ResidentCounters();
  use.bounded_file_bytes = process.unsplit.file_bytes;
  use.bounded_shmem_bytes = process.unsplit.shmem_bytes;
  return use;
}

namespace {

// The bound of each process has all that it shares; together they have no more
// than there is.
void count_shared_once(const model::Sample& sample, Use& sum) {
  if (!sample.machine) return;
  const model::MemInfo& info = sample.machine->meminfo;
  for (const auto& [bounded, limit] :
       {std::pair(&sum.bounded_file_bytes, info.mapped_bytes),
        std::pair(&sum.bounded_shmem_bytes, info.shmem_bytes)}) {
    const uint64_t surplus = limit ? *bounded - std::min(*bounded, *limit) : 0;
    *bounded -= surplus;
    sum.pss.bytes -= surplus;
    model::Amount& part =
        bounded == &sum.bounded_file_bytes ? sum.pss_file : sum.pss_shmem;
    part.bytes -= std::min(part.bytes, surplus);
  }
}

}  // namespace

std::vector<Use> uses_of(const model::Sample& sample,
                         const KernelCosts& costs) {
  std::vector<Use> uses;
  uses.reserve(sample.processes.size());
  for (const Process& process : sample.processes)
    uses.push_back(use_of(process, costs));
  if (!sample.sharing) return uses;
  const std::vector<PageShares> shares =
      shares_of_each(*sample.sharing, uses.size());
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!sample.sharing->is_unknown[i]) set_shares(shares[i], uses[i]);
  }
  return uses;
}

Use sum_of(const model::Sample& sample, const std::vector<Use>& uses,
           const std::vector<size_t>& members) {
  Use sum;
  bool is_exact = sample.sharing.has_value();
  std::vector<bool> is_member(uses.size());
  for (size_t index : members) {
    sum.add(uses[index]);
    is_member[index] = true;
    if (is_exact && sample.sharing->is_unknown[index]) is_exact = false;
  }
  if (!is_exact) {
    count_shared_once(sample, sum);
    return sum;
  }
  // The sum of the parts counts what they share among themselves; together
  // they hold each page once.
  const PageShares shares = shares_of(*sample.sharing, is_member);
  sum.uss = amount_of(shares.private_bytes);
  sum.shared = amount_of(shares.shared_bytes());
  return sum;
}

std::string denied_hint(const model::Sample& sample) {
  if (sample.reader_is_root) return {};
  return "run as root, or setcap cap_sys_ptrace+ep on the binary; see "
         "`tidemark doctor`";
}

std::vector<std::pair<std::string, std::string>> unknowns_of(
    const Process& process, const Use& use) {
  return unknowns_of(use, process.rollup ? "not reported by this kernel"
                                         : process.rollup.unknown_because);
}

std::vector<std::pair<std::string, std::string>> unknowns_of(
    const Use& use, const std::string& because) {
  std::vector<std::pair<std::string, std::string>> list;
  const auto note = [&](const char* name, const Amount& amount) {
    if (amount.is_unknown()) list.emplace_back(name, because);
  };
  note("in_ram_bytes", use.in_ram());
  note("pss_bytes", use.pss);
  note("uss_bytes", use.uss);
  note("shared_bytes", use.shared);
  note("rss_bytes", use.rss);
  note("pss_anon_bytes", use.pss_anon);
  note("pss_file_bytes", use.pss_file);
  note("pss_shmem_bytes", use.pss_shmem);
  note("swap_pss_bytes", use.swap_pss);
  note("hugetlb_bytes", use.hugetlb);
  return list;
}

void CategoryUse::add(const CategoryUse& other) {
  size_bytes += other.size_bytes;
  rss_bytes += other.rss_bytes;
  pss_bytes += other.pss_bytes;
  bounded_bytes += other.bounded_bytes;
  private_bytes += other.private_bytes;
  swap_pss_bytes += other.swap_pss_bytes;
  mapping_count += other.mapping_count;
}

void CategoryUse::subtract(const CategoryUse& other) {
  for (uint64_t CategoryUse::*part :
       {&CategoryUse::rss_bytes, &CategoryUse::pss_bytes,
        &CategoryUse::private_bytes, &CategoryUse::swap_pss_bytes,
        &CategoryUse::bounded_bytes}) {
    this->*part -= std::min(this->*part, other.*part);
  }
}

void add_mapping(const model::Mapping& mapping, CategoryUse& use) {
  const model::SmapsFields& fields = mapping.fields;
  const uint64_t huge = model::hugetlb_bytes(fields).value_or(0);
  use.size_bytes += mapping.size_bytes();
  use.rss_bytes += fields.get_or_zero(SmapsField::Rss) + huge;
  // Of pages that were only counted the resident ones are a bound.
  const uint64_t bounded =
      fields.has(SmapsField::Pss) ? 0 : fields.get_or_zero(SmapsField::Rss);
  use.bounded_bytes += bounded;
  use.pss_bytes += fields.get_or_zero(SmapsField::Pss) + bounded + huge;
  use.private_bytes += model::uss_bytes(fields).value_or(0) +
                       fields.get_or_zero(SmapsField::PrivateHugetlb);
  use.swap_pss_bytes += fields.get_or_zero(SmapsField::SwapPss);
  ++use.mapping_count;
}

std::vector<CategoryUse> categories_of(
    const std::vector<model::Mapping>& mappings,
    const std::vector<model::Region>& regions) {
  std::array<CategoryUse, model::kCategoryCount> all{};
  for (const model::Region& region : regions) {
    const model::Category category = model::region_category(region.kind);
    CategoryUse& use = all[static_cast<size_t>(category)];
    for (size_t i = 0; i < region.mapping_count; ++i)
      add_mapping(mappings[region.first_index + i], use);
  }
  std::vector<CategoryUse> present;
  for (model::Category category : model::kCategories) {
    CategoryUse& use = all[static_cast<size_t>(category)];
    use.category = category;
    if (use.mapping_count > 0) present.push_back(use);
  }
  return present;
}

void add_categories(std::vector<CategoryUse>& sum,
                    const std::vector<CategoryUse>& more) {
  for (const CategoryUse& use : more) {
    auto at =
        std::ranges::lower_bound(sum, use.category, {}, &CategoryUse::category);
    if (at == sum.end() || at->category != use.category) {
      sum.insert(at, use);
      continue;
    }
    at->add(use);
  }
}

}  // namespace tidemark::analysis
