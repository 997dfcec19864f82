#include "analysis/doctor.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tidemark::analysis {
namespace {

using model::Capability;
using model::CapabilityState;
using model::DoctorFacts;
using model::Tier;

using Names = std::vector<std::string>;

std::string_view what_tier_adds(Tier tier) {
  switch (tier) {
    case Tier::None:
      return "your own processes in full, all others by RSS, machine totals";
    case Tier::Ptrace:
      return "PSS, mappings and stacks of every process, kernel events by perf";
    case Tier::Root:
      return "every page of RAM with its owner, slab and vmalloc by name";
    case Tier::Bpf:
      return "who allocates in the kernel, by stack, while it happens";
  }
  return {};
}

// What one has when it is the highest.
std::string_view what_is_reached(Tier tier) {
  switch (tier) {
    case Tier::None:
      return what_tier_adds(tier);
    case Tier::Ptrace:
      return "PSS and mappings of every process";
    case Tier::Root:
      return "every process, every page of RAM with its owner";
    case Tier::Bpf:
      return "every process, every page of RAM, who allocates in the kernel";
  }
  return {};
}

// What a tier is for; it counts as reached when all of these work.
std::vector<std::string_view> key_rows(Tier tier) {
  switch (tier) {
    case Tier::None:
      return {};
    case Tier::Ptrace:
      return {"smaps_of_others"};
    case Tier::Root:
      return {"pagemap_pfns", "kpageflags"};
    case Tier::Bpf:
      return {"btf", "bpf_program"};
  }
  return {};
}

bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

void add_new(Names& names, const Names& more) {
  for (const std::string& name : more) {
    if (!contains(names, name)) names.push_back(name);
  }
}

Names without(const Names& names, const Names& removed) {
  Names rest;
  for (const std::string& name : names) {
    if (!contains(removed, name)) rest.push_back(name);
  }
  return rest;
}

std::string upper(std::string_view text) {
  std::string result;
  for (char c : text) {
    result += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  return result;
}

std::string joined(const Names& names, std::string_view prefix,
                   std::string_view separator) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += separator;
    text += prefix;
    text += name;
  }
  return text;
}

// Left bare when no shell would touch it.
std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-";
  if (!text.empty() &&
      text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// Makes capability lines for one caller and one binary.
class Granter {
 public:
  Granter(const DoctorFacts& facts, const std::string& binary_path)
      : facts_(facts), binary_(shell_word(binary_path)) {}

  // `also` is granted with it, because setcap replaces the whole set.
  Grant capabilities(const Names& needs, const Names& also) const {
    const Names lacking = without(needs, facts_.effective);
    if (!facts_.is_live || needs.empty()) return {};
    if (facts_.in_user_namespace) {
      return {"", "",
              "capabilities of a user namespace do not count for this; run "
              "tidemark outside of it"};
    }
    if (lacking.empty()) {
      return {"", "",
              "refused although " + joined(needs, "cap_", ", ") +
                  (needs.size() > 1 ? " are" : " is") +
                  " there: lockdown, seccomp or a security module"};
    }
    Names wanted = facts_.user_id == 0 ? Names{} : facts_.effective;
    add_new(wanted, also);
    add_new(wanted, needs);
    const Names fenced = without(wanted, facts_.bounding);
    if (!fenced.empty()) return container(fenced);
    Grant grant;
    grant.line =
        "sudo setcap " + joined(wanted, "cap_", ",") + "+ep " + binary_;
    grant.unit_line = unit_line(wanted);
    grant.note = no_new_privs_note();
    return grant;
  }

  Grant root(const Names& needs, const Names& also) const {
    Grant grant = capabilities(needs, also);
    if (facts_.user_id == 0 || grant.unit_line.empty()) return grant;
    // cap_sys_admin on a file would make everyone who runs it nearly root.
    grant.line = "sudo " + binary_;
    return grant;
  }

 private:
  static std::string unit_line(const Names& wanted) {
    return "AmbientCapabilities=" + upper(joined(wanted, "cap_", " "));
  }

  // A file capability outside of the bounding set makes exec fail.
  static Grant container(const Names& fenced) {
    return {"docker run " + upper_options(fenced) + " ...", "",
            "outside the bounding set of this session, so setcap cannot help; "
            "whoever starts the container can"};
  }

  static std::string upper_options(const Names& names) {
    Names options;
    for (const std::string& name : names)
      options.push_back(upper(name));
    return joined(options, "--cap-add=", " ");
  }

  std::string no_new_privs_note() const {
    if (!facts_.no_new_privs) return {};
    return "no_new_privs is set here, so exec grants nothing: start tidemark "
           "from another session";
  }

  const DoctorFacts& facts_;
  std::string binary_;
};

DoctorRow make_row(const Granter& granter, const DoctorFacts& facts,
                   Capability capability) {
  DoctorRow row;
  row.lacks = without(capability.needs, facts.effective);
  if (!capability.grant.empty()) {
    row.grant.line = capability.grant;
  } else if (capability.state == CapabilityState::Denied) {
    row.grant = granter.capabilities(capability.needs, {});
  }
  row.capability = std::move(capability);
  return row;
}

// What the denied rows of a tier ask for; rows with a line of their own need
// something else.
Names denied_needs(const TierReport& tier) {
  Names needs;
  for (const DoctorRow& row : tier.rows) {
    if (row.capability.state != CapabilityState::Denied) continue;
    if (row.capability.grant.empty()) add_new(needs, row.capability.needs);
  }
  return needs;
}

const DoctorRow* find_row(const TierReport& tier, std::string_view name) {
  for (const DoctorRow& row : tier.rows) {
    if (row.capability.name == name) return &row;
  }
  return nullptr;
}

bool is_reached(const TierReport& tier) {
  return std::ranges::all_of(key_rows(tier.tier), [&](std::string_view name) {
    const DoctorRow* row = find_row(tier, name);
    return row && row->capability.state == CapabilityState::Works;
  });
}

// Without a right to ask for, what the kernel lacks is the obstacle.
Grant missing_key(const TierReport& tier) {
  for (std::string_view name : key_rows(tier.tier)) {
    const DoctorRow* row = find_row(tier, name);
    if (!row || row->capability.state == CapabilityState::Works) continue;
    if (!row->grant.line.empty()) return row->grant;
    return {"", "", row->capability.detail};
  }
  return {};
}

TierReport make_tier(Tier tier, std::vector<Capability>& capabilities,
                     const DoctorFacts& facts, const Granter& granter) {
  TierReport report;
  report.tier = tier;
  report.adds = what_tier_adds(tier);
  for (Capability& capability : capabilities) {
    if (capability.tier != tier) continue;
    if (capability.state == CapabilityState::Works) ++report.works_count;
    report.rows.push_back(make_row(granter, facts, std::move(capability)));
  }
  report.is_reached = is_reached(report);
  return report;
}

void add_tier_grants(std::vector<TierReport>& tiers, const Granter& granter) {
  Names lower;  // of the tiers a setcap line must not take away again
  for (TierReport& tier : tiers) {
    const Names needs = denied_needs(tier);
    if (needs.empty()) {
      tier.grant = missing_key(tier);
    } else if (tier.tier == Tier::Root) {
      tier.grant = granter.root(needs, lower);
    } else {
      tier.grant = granter.capabilities(needs, lower);
    }
    if (tier.tier != Tier::Root) add_new(lower, needs);
  }
}

std::string sentence_of(const DoctorReport& report) {
  if (!report.facts.is_live) {
    return "a copied tree: only the files in it were looked at";
  }
  std::string sentence(what_is_reached(report.reached));
  for (const TierReport& tier : report.tiers) {
    if (tier.tier > report.reached && tier.is_reached) {
      sentence += "; and " + std::string(model::tier_name(tier.tier)) + ": " +
                  tier.adds;
    }
  }
  return sentence;
}

}  // namespace

DoctorReport doctor_report(DoctorInput input) {
  DoctorReport report;
  report.facts = std::move(input.facts);
  report.binary_path = std::move(input.binary_path);
  report.built_in = std::move(input.built_in);
  const Granter granter(report.facts, report.binary_path);
  for (Tier tier : model::kTiers) {
    report.tiers.push_back(
        make_tier(tier, input.capabilities, report.facts, granter));
  }
  if (report.facts.is_live) add_tier_grants(report.tiers, granter);
  for (const TierReport& tier : report.tiers) {
    if (!tier.is_reached) {
      if (report.facts.is_live) {
        report.next = NextStep{tier.tier, tier.adds, tier.grant};
      }
      break;
    }
    report.reached = tier.tier;
  }
  report.sentence = sentence_of(report);
  return report;
}

}  // namespace tidemark::analysis
