#include "analysis/process_use.h"

#include <gtest/gtest.h>

#include "unit/analysis/processes.h"

namespace tidemark::analysis {
namespace {

using model::Amount;
using model::amount_of;
using model::Category;
using model::Mapping;
using model::Process;
using model::Region;
using model::RegionKind;
using model::SmapsField;
using test::denied_process;
using test::having;
using test::kernel_thread;
using test::kKiB;
using test::process_named;
using test::process_with;
using test::zombie;

// Arguments parted by '|' for NUL.
std::string name_of(std::string_view comm, std::string_view arguments) {
  Process process = process_named(42, 1, comm);
  for (char c : arguments)
    process.command_line += c == '|' ? '\0' : c;
  return display_name(process);
}

// ---- names

TEST(DisplayName, IsTheProgramWithoutItsPath) {
  EXPECT_EQ(name_of("osm2pgsql", "/usr/bin/osm2pgsql|-d|gis"), "osm2pgsql");
}

TEST(DisplayName, LosesTheDashOfALoginShell) {
  EXPECT_EQ(name_of("bash", "-bash"), "bash");
}

TEST(DisplayName, OfAnInterpreterHasItsScript) {
  EXPECT_EQ(name_of("python3", "python3|/opt/osm/style.py|x"),
            "python3 style.py");
  EXPECT_EQ(name_of("python3.11", "/usr/bin/python3.11|style.py"),
            "python3.11 style.py");
  EXPECT_EQ(name_of("sh", "sh|/host/cap.sh"), "sh cap.sh");
}

TEST(DisplayName, OfAnInterpreterWithAnOptionIsItsOwn) {
  EXPECT_EQ(name_of("python3", "python3|-m|http.server"), "python3");
}

TEST(DisplayName, OfAnInterpreterAloneIsItsOwn) {
  EXPECT_EQ(name_of("bash", "bash"), "bash");
}

TEST(DisplayName, TakesNoProgramForAnInterpreterByItsFirstLetters) {
  EXPECT_EQ(name_of("shutdown", "/sbin/shutdown|now"), "shutdown");
  EXPECT_EQ(name_of("nodemon", "nodemon|x.js"), "nodemon");
}

TEST(DisplayName, IsATitleThatTheProgramWrote) {
  EXPECT_EQ(name_of("postgres", "postgres: checkpointer"),
            "postgres: checkpointer");
  EXPECT_EQ(name_of("sshd", "sshd: ann [priv]"), "sshd: ann [priv]");
  EXPECT_EQ(name_of("nginx", "nginx: master process /usr/sbin/nginx"),
            "nginx: master process /usr/sbin/nginx");
}

TEST(DisplayName, IsANameThatTheProgramGaveItself) {
  EXPECT_EQ(name_of("zoo writer", "/opt/zoo/zoo|/var/lib/zoo"), "zoo writer");
}

TEST(DisplayName, OfAScriptRunByItsOwnNameIsTheScript) {
  EXPECT_EQ(name_of("style.py", "/usr/bin/python3|./style.py"), "style.py");
}

TEST(DisplayName, IsWholeWhereTheKernelCutsAtFifteenBytes) {
  EXPECT_EQ(name_of("systemd-journal", "/lib/systemd/systemd-journald"),
            "systemd-journald");
}

TEST(DisplayName, OfATitleThatReplacedAllArgumentsIsTheKernels) {
  EXPECT_EQ(name_of("chrome", "/opt/chrome/chrome --type=renderer"), "chrome");
}

TEST(DisplayName, WithoutArgumentsIsTheKernels) {
  EXPECT_EQ(name_of("init", ""), "init");
}

TEST(DisplayName, OfAKernelThreadStandsInBrackets) {
  EXPECT_EQ(display_name(kernel_thread(2, "kthreadd")), "[kthreadd]");
}

TEST(DisplayName, OfAProcessThatTellsNothingIsAQuestionMark) {
  EXPECT_EQ(name_of("", ""), "?");
}

TEST(CommandText, PartsArgumentsByBlanks) {
  Process process;
  process.command_line = std::string("a\0b c\0d", 7);
  EXPECT_EQ(command_text(process), "a b c d");
}

// ---- use of one process

TEST(Use, IsWhatTheRollupSays) {
  Process process = process_with(42, 1, "x", 0);
  // debian-6.1/proc/110/smaps_rollup.
  process = having(process, SmapsField::Rss, 8892);
  process = having(process, SmapsField::Pss, 8889);
  process = having(process, SmapsField::PssAnon, 8240);
  process = having(process, SmapsField::PssFile, 1);
  process = having(process, SmapsField::PssShmem, 648);
  process = having(process, SmapsField::SharedClean, 4);
  process = having(process, SmapsField::PrivateDirty, 8888);
  const Use use = use_of(process, {});
  EXPECT_EQ(use.pss, amount_of(8889 * kKiB));
  EXPECT_EQ(use.rss, amount_of(8892 * kKiB));
  EXPECT_EQ(use.uss, amount_of(8888 * kKiB));
  EXPECT_EQ(use.shared, amount_of(4 * kKiB));
  EXPECT_EQ(use.pss_anon, amount_of(8240 * kKiB));
  EXPECT_EQ(use.pss_file, amount_of(1 * kKiB));
  EXPECT_EQ(use.pss_shmem, amount_of(648 * kKiB));
  EXPECT_EQ(use.swap_pss, amount_of(0));
  EXPECT_EQ(use.hugetlb, amount_of(0));
}

TEST(Use, InRamIsPssAndHugePages) {
  Process process = process_with(42, 1, "x", 100);
  process = having(process, SmapsField::PrivateHugetlb, 2048);
  process = having(process, SmapsField::SharedHugetlb, 4096);
  EXPECT_EQ(use_of(process, {}).in_ram(), amount_of(6244 * kKiB));
}

TEST(Use, InRamOfAKernelWithoutHugePagesIsPss) {
  Process process = process_named(42, 1, "x");
  model::SmapsFields fields;
  fields.set(SmapsField::Pss, 100 * kKiB);
  process.rollup = model::known(fields);
  EXPECT_EQ(use_of(process, {}).in_ram(), amount_of(100 * kKiB));
}

TEST(Use, OfTheKernelIsPageTablesAndAStackPerThread) {
  Process process = process_with(42, 1, "x", 100);
  process.status.thread_count = 3;
  process.status.page_table_bytes = 52 * kKiB;
  EXPECT_EQ(use_of(process, {}).kernel, amount_of((3 * 16 + 52) * kKiB));
}

TEST(Use, OfTheKernelIsALowerBoundWithoutPageTables) {
  Process process = process_with(42, 1, "x", 100);
  process.status.page_table_bytes = std::nullopt;
  const Amount kernel = use_of(process, {}).kernel;
  EXPECT_TRUE(kernel.is_lower_bound());
  EXPECT_EQ(kernel.bytes, 16 * kKiB);
}

TEST(Use, OfTheKernelHoldsBpfObjectsWhereDescriptorsWereRead) {
  Process process = process_with(42, 1, "x", 100);
  process.descriptors = model::known(std::vector<model::DescriptorCount>{
      {"bpf-map", 2, 8 * kKiB}, {"bpf-prog", 1, 4 * kKiB}, {"file", 3}});
  EXPECT_EQ(use_of(process, {}).kernel, amount_of((16 + 12) * kKiB));
}

TEST(Use, OfADeniedProcessIsUnknownButForItsRss) {
  const Use use = use_of(denied_process(42, 1, "x"), {});
  EXPECT_TRUE(use.pss.is_unknown());
  EXPECT_TRUE(use.uss.is_unknown());
  EXPECT_TRUE(use.swap_pss.is_unknown());
  EXPECT_TRUE(use.in_ram().is_unknown());
  EXPECT_EQ(use.rss, amount_of(10 * 4096));
}

TEST(Use, CountsStatmInPagesOfItsKernel) {
  const KernelCosts costs = {.page_size_bytes = 65536};
  EXPECT_EQ(use_of(denied_process(42, 1, "x"), costs).rss,
            amount_of(10 * 65536));
}

TEST(Use, TakesRssFromStatusWithoutStatm) {
  Process process = denied_process(42, 1, "x");
  process.statm = std::nullopt;
  process.status.rss_bytes = 7 * kKiB;
  EXPECT_EQ(use_of(process, {}).rss, amount_of(7 * kKiB));
}

TEST(Use, OfAZombieIsATrueZero) {
  const Use use = use_of(zombie(42, 1, "x"), {});
  EXPECT_EQ(use.pss, amount_of(0));
  EXPECT_EQ(use.rss, amount_of(0));
  EXPECT_EQ(use.hugetlb, amount_of(0));
  EXPECT_EQ(use.in_ram(), amount_of(0));
}

TEST(Use, OfAKernelThreadIsAZeroAndItsStack) {
  const Use use = use_of(kernel_thread(2, "kthreadd"), {});
  EXPECT_EQ(use.pss, amount_of(0));
  EXPECT_EQ(use.swap_pss, amount_of(0));
  EXPECT_EQ(use.kernel, amount_of(16 * kKiB));
}

TEST(Use, OfSeveralIsALowerBoundOnceOneIsUnknown) {
  Use sum = use_of(process_with(1, 0, "x", 100), {});
  sum.add(use_of(denied_process(2, 1, "y"), {}));
  EXPECT_TRUE(sum.pss.is_lower_bound());
  EXPECT_EQ(sum.pss.bytes, 100 * kKiB);
  EXPECT_FALSE(sum.rss.has_unknown) << "statm told it";
}

// ---- why it is not known

using Reasons = std::vector<std::pair<std::string, std::string>>;

TEST(Unknowns, OfAReadProcessAreNone) {
  const Process process =
      having(process_with(42, 1, "x", 1), SmapsField::SharedHugetlb, 0);
  EXPECT_EQ(unknowns_of(process, use_of(process, {})), Reasons());
}

TEST(Unknowns, OfAZombieAreNone) {
  const Process process = zombie(42, 1, "x");
  EXPECT_EQ(unknowns_of(process, use_of(process, {})), Reasons());
}

TEST(Unknowns, OfADeniedProcessCarryItsReason) {
  const Process process = denied_process(42, 1, "x");
  const std::string because = "denied: Permission denied";
  EXPECT_EQ(unknowns_of(process, use_of(process, {})),
            (Reasons{{"in_ram_bytes", because},
                     {"pss_bytes", because},
                     {"uss_bytes", because},
                     {"shared_bytes", because},
                     {"pss_anon_bytes", because},
                     {"pss_file_bytes", because},
                     {"pss_shmem_bytes", because},
                     {"swap_pss_bytes", because},
                     {"hugetlb_bytes", because}}));
}

TEST(Unknowns, OfAnOlderKernelAreWhatItDoesNotReport) {
  Process process = process_named(42, 1, "x");
  model::SmapsFields fields;
  for (SmapsField field : {SmapsField::Pss, SmapsField::Rss,
                           SmapsField::PrivateDirty, SmapsField::SharedClean,
                           SmapsField::SwapPss, SmapsField::PrivateHugetlb}) {
    fields.set(field, 0);
  }
  process.rollup = model::known(fields);
  const std::string because = "not reported by this kernel";
  EXPECT_EQ(unknowns_of(process, use_of(process, {})),
            (Reasons{{"pss_anon_bytes", because},
                     {"pss_file_bytes", because},
                     {"pss_shmem_bytes", because}}));
}

TEST(DeniedHint, IsForThoseWhoCouldBecomeRoot) {
  model::Sample sample;
  EXPECT_EQ(denied_hint(sample),
            "run as root, or setcap cap_sys_ptrace+ep on the binary; see "
            "`tidemark doctor`");
  sample.reader_is_root = true;
  EXPECT_EQ(denied_hint(sample), "");
}

// ---- by category

Mapping mapping_of(uint64_t size_kib, uint64_t pss_kib) {
  Mapping m;
  m.start_address = 0x100000;
  m.end_address = m.start_address + size_kib * kKiB;
  m.fields.set(SmapsField::Rss, 2 * pss_kib * kKiB);
  m.fields.set(SmapsField::Pss, pss_kib * kKiB);
  m.fields.set(SmapsField::PrivateDirty, pss_kib * kKiB / 2);
  m.fields.set(SmapsField::SwapPss, kKiB);
  return m;
}

TEST(Categories, SumTheMappingsOfTheirRegions) {
  const std::vector<Mapping> mappings = {mapping_of(64, 8), mapping_of(16, 4),
                                         mapping_of(4, 2)};
  const std::vector<Region> regions = {{RegionKind::Arena, 0, 2, "", 0},
                                       {RegionKind::BrkHeap, 2, 1, "", 0}};
  const CategoryUse heap = {Category::Heap, 84 * kKiB, 28 * kKiB, 14 * kKiB,
                            7 * kKiB,       3 * kKiB,  3};
  EXPECT_EQ(categories_of(mappings, regions), std::vector<CategoryUse>{heap});
}

TEST(Categories, StandInStackOrderAndOnlyWhereTheyOccur) {
  const std::vector<Mapping> mappings = {mapping_of(4, 1), mapping_of(4, 1),
                                         mapping_of(4, 1)};
  const std::vector<Region> regions = {{RegionKind::Image, 0, 1, "", 0},
                                       {RegionKind::Anonymous, 1, 1, "", 0},
                                       {RegionKind::MemFd, 2, 1, "", 0}};
  std::vector<Category> order;
  for (const CategoryUse& use : categories_of(mappings, regions))
    order.push_back(use.category);
  EXPECT_EQ(order, (std::vector<Category>{Category::Anon, Category::Shm,
                                          Category::Code}));
}

TEST(Categories, CountHugePagesInFull) {
  Mapping m;
  m.end_address = 4096 * kKiB;
  m.fields.set(SmapsField::Rss, 0);
  m.fields.set(SmapsField::Pss, 0);
  m.fields.set(SmapsField::PrivateHugetlb, 2048 * kKiB);
  m.fields.set(SmapsField::SharedHugetlb, 1024 * kKiB);
  const CategoryUse huge = {
      Category::Huge, 4096 * kKiB, 3072 * kKiB, 3072 * kKiB, 2048 * kKiB, 0, 1};
  EXPECT_EQ(categories_of({m}, {{RegionKind::HugeTlb, 0, 1, "", 0}}),
            std::vector<CategoryUse>{huge});
}

TEST(Categories, AddUpKeepingStackOrder) {
  const CategoryUse heap = {Category::Heap, 1, 2, 3, 4, 5, 6};
  const CategoryUse shm = {Category::Shm, 10, 20, 30, 40, 50, 60};
  const CategoryUse code = {Category::Code, 7, 7, 7, 7, 7, 7};
  std::vector<CategoryUse> sum = {shm};
  add_categories(sum, {heap, shm, code});
  const CategoryUse twice = {Category::Shm, 20, 40, 60, 80, 100, 120};
  EXPECT_EQ(sum, (std::vector<CategoryUse>{heap, twice, code}));
}

}  // namespace
}  // namespace tidemark::analysis
