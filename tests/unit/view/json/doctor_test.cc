#include "view/json/doctor.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/view/doctor_example.h"

namespace tidemark::view {
namespace {

using base::JsonWriter;

constexpr const char* kWhole = R"json({
  "schema": "tidemark.doctor/1",
  "kernel_release": "6.1.0-test",
  "machine": "x86_64",
  "proc": "/proc",
  "live": true,
  "user_id": 1000,
  "effective_capabilities": [],
  "bounding_capabilities": [
    "dac_read_search",
    "sys_ptrace",
    "sys_admin"
  ],
  "no_new_privs": false,
  "in_user_namespace": false,
  "binary": "/opt/tidemark",
  "reached": "none",
  "sentence": "your own processes in full, all others by RSS, machine totals",
  "next": {
    "tier": "ptrace",
    "adds": "PSS, mappings and stacks of every process, kernel events by perf",
    "grant": "sudo setcap cap_sys_ptrace+ep /opt/tidemark",
    "systemd_unit_line": "AmbientCapabilities=CAP_SYS_PTRACE",
    "note": null
  },
  "tiers": [
    {
      "tier": "none",
      "reached": true,
      "adds": "your own processes in full, all others by RSS, machine totals",
      "works_count": 1,
      "row_count": 2,
      "grant": null,
      "systemd_unit_line": null,
      "note": null,
      "rows": [
        {
          "name": "smaps_own",
          "gives": "PSS of your own processes",
          "state": "works",
          "detail": "/proc/self/smaps",
          "needs_capabilities": [],
          "grant": null,
          "systemd_unit_line": null,
          "note": null
        },
        {
          "name": "pressure",
          "gives": "how long tasks wait for memory",
          "state": "missing",
          "detail": "/proc/pressure/memory: No such file or directory",
          "needs_capabilities": [],
          "grant": "psi=1 on the kernel command line (CONFIG_PSI=y)",
          "systemd_unit_line": null,
          "note": null
        }
      ]
    },
    {
      "tier": "ptrace",
      "reached": false,
      "adds": "PSS, mappings and stacks of every process, kernel events by perf",
      "works_count": 0,
      "row_count": 2,
      "grant": "sudo setcap cap_sys_ptrace+ep /opt/tidemark",
      "systemd_unit_line": "AmbientCapabilities=CAP_SYS_PTRACE",
      "note": null,
      "rows": [
        {
          "name": "smaps_of_others",
          "gives": "PSS and mappings of all",
          "state": "denied",
          "detail": "/proc/1/smaps: Permission denied",
          "needs_capabilities": [
            "sys_ptrace"
          ],
          "grant": "sudo setcap cap_sys_ptrace+ep /opt/tidemark",
          "systemd_unit_line": "AmbientCapabilities=CAP_SYS_PTRACE",
          "note": null
        },
        {
          "name": "tracefs",
          "gives": "names of kernel events",
          "state": "not tried",
          "detail": "an odd name: \u001b[2J",
          "needs_capabilities": [],
          "grant": null,
          "systemd_unit_line": null,
          "note": null
        }
      ]
    },
    {
      "tier": "root",
      "reached": false,
      "adds": "every page of RAM with its owner, slab and vmalloc by name",
      "works_count": 0,
      "row_count": 0,
      "grant": null,
      "systemd_unit_line": null,
      "note": null,
      "rows": []
    },
    {
      "tier": "bpf",
      "reached": false,
      "adds": "who allocates in the kernel, by stack, while it happens",
      "works_count": 0,
      "row_count": 0,
      "grant": null,
      "systemd_unit_line": null,
      "note": null,
      "rows": []
    }
  ],
  "kernel": [
    {
      "name": "kptr_restrict",
      "value": "0",
      "means": "hashes"
    },
    {
      "name": "swap",
      "value": "2.00 GiB",
      "means": null
    }
  ],
  "built_in": {
    "static": true,
    "bpf": false
  }
}
)json";

TEST(DoctorJson, HoldsTheWholeReport) {
  EXPECT_EQ(doctor_json(doctor_example(), JsonWriter::Layout::Pretty), kWhole);
}

TEST(DoctorJson, SaysNullWhenNothingIsNext) {
  analysis::DoctorReport report = doctor_example();
  report.next.reset();
  const std::string json = doctor_json(report, JsonWriter::Layout::OneLine);
  EXPECT_NE(json.find(R"("next":null)"), std::string::npos) << json;
}

}  // namespace
}  // namespace tidemark::view
