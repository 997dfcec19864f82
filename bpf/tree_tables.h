// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the programs of tree.bpf.c are told before they run, and what they and
// user space share while they do.
#pragma once

#include "kernel_types.h"
// The order matters: the helpers need the types.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "events.h"

// --- set by user space before loading ---------------------------------------
// Yes and no are bytes: the skeleton would call a bool _Bool, which C++ lacks.

const volatile __u64 namespace_device = 0;
const volatile __u64 namespace_inode = 0;
const volatile __u32 tool_pid = 0;
const volatile __u32 cpu_count = 1;
const volatile __u8 follows_descendants = 1;
const volatile __u8 height_is_charge = 0;
const volatile __u8 stops_at_crossing = 0;

// --- shared with user space while running ------------------------------------

// The next child of the tool is the root of the tree.
__u8 adopts_next_child = 0;
// Distance from one per-CPU copy of anything to the next, by CPU.
__u64 cpu_offset[TM_CPU_LIMIT] = {};
__u8 has_cpu_offsets = 0;

__u64 next_mark_pages = 0;
__u64 step_permille = 62;
__u64 highest_pages = 0;
__u64 highest_ns = 0;
__u64 resident_pages = 0;  // of all spaces of the tree now
__u64 highest_resident_pages = 0;
__u64 highest_resident_ns = 0;
__u64 charge_counter = 0;  // address of the tree group's page counter
__u64 tree_group = 0;      // its memory group itself
__u64 left_count = 0;      // processes that were ever outside of it
__s64 outside_pages = 0;   // resident in the spaces outside of it, roughly

__u64 lost_processes = 0;  // no room in a map
__u64 lost_records = 0;    // no room in the ring
__u64 process_count = 0;
__u32 namespace_level = 0;

// For finding cpu_offset.
__u64 percpu_address[TM_CPU_LIMIT] = {};
__u8 map_image[1024] = {};  // the map itself, up to its base pointer
__u32 base_offset = 0;      // of the base pointer in it

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 65536);
  __type(key, __u64);
  __type(value, struct tm_space);
} spaces SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 65536);
  __type(key, __u32);  // tgid in the first namespace
  __type(value, struct tm_process);
} processes SEC(".maps");

// Pids (of the tool's namespace) that adopt_running looks for.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 65536);
  __type(key, __u32);
  __type(value, __u8);
} wanted SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4 << 20);
} records SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} probe_percpu SEC(".maps");
