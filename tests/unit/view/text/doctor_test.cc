#include "view/text/doctor.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/escape.h"
#include "base/text.h"
#include "unit/view/doctor_example.h"

namespace tidemark::view {
namespace {

TEST(DoctorText, ShowsEveryStateWithItsReason) {
  EXPECT_EQ(
      doctor_text(doctor_example(), TextStyle{}),
      R"(linux 6.1.0-test x86_64, user 1000 without a capability of use here

  tier  none: your own processes in full, all others by RSS, machine totals
  next  ptrace: PSS, mappings and stacks of every process, kernel events by perf
        sudo setcap cap_sys_ptrace+ep /opt/tidemark
        or in a systemd unit:
        AmbientCapabilities=CAP_SYS_PTRACE

tier none, reached, 1 of 2 work
  works      smaps_own                 PSS of your own processes
  missing    pressure                  how long tasks wait for memory
             /proc/pressure/memory: No such file or directory
             psi=1 on the kernel command line (CONFIG_PSI=y)

tier ptrace, not reached, 0 of 2 work
  denied     smaps_of_others           PSS and mappings of all
             /proc/1/smaps: Permission denied; needs cap_sys_ptrace
  not tried  tracefs                   names of kernel events
             an odd name: \x1b[2J
  for what is denied:
  sudo setcap cap_sys_ptrace+ep /opt/tidemark
  or in a systemd unit:
  AmbientCapabilities=CAP_SYS_PTRACE

tier root, not reached, 0 of 0 work

tier bpf, not reached, 0 of 0 work

kernel
  kptr_restrict              0: hashes
  swap                       2.00 GiB

built in
  static                     yes
  bpf                        no
)");
}

TEST(DoctorText, BreaksALongCommandSoThatAShellJoinsIt) {
  analysis::DoctorReport report = doctor_example();
  report.next->grant.line =
      "sudo setcap cap_sys_ptrace,cap_dac_read_search,cap_perfmon+ep "
      "/usr/local/bin/tidemark";
  const std::string text = doctor_text(report, TextStyle{});
  EXPECT_NE(text.find("        sudo setcap "
                      "cap_sys_ptrace,cap_dac_read_search,cap_perfmon+ep \\\n"
                      "          /usr/local/bin/tidemark\n"),
            std::string::npos)
      << text;
}

TEST(DoctorText, KeepsToEightyColumns) {
  const std::string text = doctor_text(doctor_example(), TextStyle{});
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = base::take_line(rest);
    EXPECT_LE(base::display_width(line), 80u) << line;
  }
}

TEST(DoctorText, ColourMarksWhatDoesNotWorkAndKeepsTheColumns) {
  TextStyle style;
  style.color = true;
  const std::string text = doctor_text(doctor_example(), style);
  EXPECT_NE(text.find("  \x1b[33mdenied   \x1b[0m  smaps_of_others"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n  works      smaps_own"), std::string::npos);
}

TEST(DoctorText, ACopiedTreeIsNamedAsOne) {
  analysis::DoctorInput input;
  input.facts.proc_path = "capture/proc";
  const std::string text =
      doctor_text(analysis::doctor_report(input), TextStyle{});
  EXPECT_TRUE(text.starts_with(
      "capture/proc, linux ?\n\n"
      "  tier  none: a copied tree: only the files in it were looked at\n"))
      << text;
}

}  // namespace
}  // namespace tidemark::view
