#include "analysis/doctor.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace tidemark::analysis {
namespace {

using model::Capability;
using model::CapabilityState;
using model::Tier;

Capability row(std::string name, Tier tier, CapabilityState state,
               std::vector<std::string> needs = {}, std::string grant = {}) {
  return {std::move(name),  "something",     tier, state, "seen",
          std::move(needs), std::move(grant)};
}

// A plain user on a machine that withholds everything above tier none.
DoctorInput plain_user() {
  DoctorInput input;
  input.facts.is_live = true;
  input.facts.user_id = 1000;
  input.facts.bounding = {"dac_read_search", "sys_ptrace", "sys_admin",
                          "perfmon", "bpf"};
  input.binary_path = "/usr/bin/tidemark";
  input.capabilities = {
      row("smaps_own", Tier::None, CapabilityState::Works),
      row("smaps_of_others", Tier::Ptrace, CapabilityState::Denied,
          {"sys_ptrace"}),
      row("pagemap_of_others", Tier::Ptrace, CapabilityState::Denied,
          {"sys_ptrace", "dac_read_search"}),
      row("pagemap_pfns", Tier::Root, CapabilityState::Denied, {"sys_admin"}),
      row("kpageflags", Tier::Root, CapabilityState::Denied,
          {"dac_read_search"}),
      row("btf", Tier::Bpf, CapabilityState::Works),
      row("bpf_program", Tier::Bpf, CapabilityState::Denied,
          {"bpf", "perfmon"}),
  };
  return input;
}

void set_state(DoctorInput& input, const std::string& name,
               CapabilityState state) {
  for (Capability& capability : input.capabilities) {
    if (capability.name == name) capability.state = state;
  }
}

TEST(Doctor, NamesTheLineThatLiftsToTheNextTier) {
  DoctorReport report = doctor_report(plain_user());
  EXPECT_EQ(report.reached, Tier::None);
  ASSERT_TRUE(report.next);
  EXPECT_EQ(report.next->tier, Tier::Ptrace);
  EXPECT_EQ(report.next->grant.line,
            "sudo setcap cap_sys_ptrace,cap_dac_read_search+ep "
            "/usr/bin/tidemark");
  EXPECT_EQ(report.next->grant.unit_line,
            "AmbientCapabilities=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH");
}

TEST(Doctor, OneRowAsksOnlyForWhatItNeeds) {
  DoctorReport report = doctor_report(plain_user());
  EXPECT_EQ(report.tiers[1].rows[0].grant.line,
            "sudo setcap cap_sys_ptrace+ep /usr/bin/tidemark");
}

TEST(Doctor, SetcapKeepsWhatTheFileAlreadyHas) {
  DoctorInput input = plain_user();
  input.facts.effective = {"sys_ptrace"};
  set_state(input, "smaps_of_others", CapabilityState::Works);
  DoctorReport report = doctor_report(input);
  EXPECT_EQ(report.tiers[1].rows[1].grant.line,
            "sudo setcap cap_sys_ptrace,cap_dac_read_search+ep "
            "/usr/bin/tidemark")
      << "setcap replaces the whole set";
  EXPECT_EQ(report.tiers[1].rows[1].lacks,
            std::vector<std::string>{"dac_read_search"});
}

TEST(Doctor, BpfLineDoesNotTakeTheLowerTierAwayAgain) {
  DoctorReport report = doctor_report(plain_user());
  EXPECT_EQ(report.tiers[3].grant.line,
            "sudo setcap cap_sys_ptrace,cap_dac_read_search,cap_bpf,"
            "cap_perfmon+ep /usr/bin/tidemark");
}

TEST(Doctor, RootTierIsASudoAwayAndNotASetcap) {
  DoctorReport report = doctor_report(plain_user());
  EXPECT_EQ(report.tiers[2].grant.line, "sudo /usr/bin/tidemark");
  EXPECT_EQ(report.tiers[2].grant.unit_line,
            "AmbientCapabilities=CAP_SYS_PTRACE CAP_DAC_READ_SEARCH "
            "CAP_SYS_ADMIN");
}

TEST(Doctor, ReachedNeedsEveryTierBelow) {
  DoctorInput input = plain_user();
  set_state(input, "smaps_of_others", CapabilityState::Works);
  set_state(input, "bpf_program", CapabilityState::Works);
  DoctorReport report = doctor_report(input);
  EXPECT_EQ(report.reached, Tier::Ptrace);
  EXPECT_TRUE(report.tiers[3].is_reached);
  EXPECT_EQ(report.sentence,
            "PSS and mappings of every process; and bpf: who allocates in the "
            "kernel, by stack, while it happens");
  ASSERT_TRUE(report.next);
  EXPECT_EQ(report.next->tier, Tier::Root);
}

TEST(Doctor, NothingIsNextWhenEverythingIsReached) {
  DoctorInput input = plain_user();
  for (Capability& capability : input.capabilities) {
    capability.state = CapabilityState::Works;
  }
  DoctorReport report = doctor_report(input);
  EXPECT_EQ(report.reached, Tier::Bpf);
  EXPECT_FALSE(report.next);
  EXPECT_EQ(report.tiers[1].works_count, 2u);
}

TEST(Doctor, DoesNotOfferSetcapBeyondTheBoundingSet) {
  DoctorInput input = plain_user();
  input.facts.bounding = {"dac_read_search"};
  DoctorReport report = doctor_report(input);
  ASSERT_TRUE(report.next);
  EXPECT_EQ(report.next->grant.line, "docker run --cap-add=SYS_PTRACE ...");
  EXPECT_NE(report.next->grant.note.find("bounding set"), std::string::npos);
}

TEST(Doctor, SaysThatInnerNamespacesDoNotCount) {
  DoctorInput input = plain_user();
  input.facts.in_user_namespace = true;
  input.facts.effective = input.facts.bounding;
  DoctorReport report = doctor_report(input);
  ASSERT_TRUE(report.next);
  EXPECT_EQ(report.next->grant.line, "");
  EXPECT_EQ(report.next->grant.note,
            "capabilities of a user namespace do not count for this; run "
            "tidemark outside of it");
}

TEST(Doctor, DoesNotOfferWhatIsAlreadyThere) {
  DoctorInput input = plain_user();
  input.facts.user_id = 0;
  input.facts.effective = input.facts.bounding;
  DoctorReport report = doctor_report(input);
  EXPECT_EQ(report.tiers[3].rows[1].grant.line, "");
  EXPECT_EQ(report.tiers[3].rows[1].grant.note,
            "refused although cap_bpf, cap_perfmon are there: lockdown, "
            "seccomp or a security module");
}

TEST(Doctor, WarnsThatNoNewPrivsDefeatsSetcap) {
  DoctorInput input = plain_user();
  input.facts.no_new_privs = true;
  DoctorReport report = doctor_report(input);
  ASSERT_TRUE(report.next);
  EXPECT_NE(report.next->grant.note.find("no_new_privs"), std::string::npos);
}

TEST(Doctor, AMissingKernelOptionIsTheNextStep) {
  DoctorInput input = plain_user();
  for (Capability& capability : input.capabilities) {
    capability.state = CapabilityState::Works;
  }
  input.capabilities[5] = row("btf", Tier::Bpf, CapabilityState::Missing, {},
                              "kernel option CONFIG_DEBUG_INFO_BTF=y");
  DoctorReport report = doctor_report(input);
  ASSERT_TRUE(report.next);
  EXPECT_EQ(report.next->grant.line, "kernel option CONFIG_DEBUG_INFO_BTF=y");
}

TEST(Doctor, ASysctlOfARowStaysOutOfTheSetcapLine) {
  DoctorInput input = plain_user();
  input.capabilities.push_back(row("vmalloc_addresses", Tier::Ptrace,
                                   CapabilityState::Denied, {"perfmon"},
                                   "sudo sysctl kernel.kptr_restrict=1"));
  DoctorReport report = doctor_report(input);
  EXPECT_EQ(report.tiers[1].rows[2].grant.line,
            "sudo sysctl kernel.kptr_restrict=1");
  EXPECT_EQ(report.tiers[1].grant.line.find("perfmon"), std::string::npos);
}

TEST(Doctor, QuotesABinaryPathForTheShell) {
  DoctorInput input = plain_user();
  input.binary_path = "/home/o'neil/my tools/tidemark";
  DoctorReport report = doctor_report(input);
  EXPECT_EQ(report.tiers[2].grant.line,
            "sudo '/home/o'\\''neil/my tools/tidemark'");
}

TEST(Doctor, GivesNoAdviceForACopiedTree) {
  DoctorInput input = plain_user();
  input.facts.is_live = false;
  DoctorReport report = doctor_report(input);
  EXPECT_FALSE(report.next);
  EXPECT_EQ(report.tiers[1].grant, Grant{});
  EXPECT_EQ(report.sentence,
            "a copied tree: only the files in it were looked at");
}

}  // namespace
}  // namespace tidemark::analysis
