// Parses what the kernel sends over netlink when processes come and go.
//
// Two feeds, both of the whole machine. The proc connector tells of forks,
// execs and exits the moment they happen; taskstats gives an account of every
// thread that ends, its memory high mark among it. Both are binary: messages
// with lengths inside messages with lengths, none of which is believed. What
// does not fit is an error; kinds of messages and attributes we do not know are
// skipped, since every release adds some.
//
// A datagram is what one recv() gives. Numbers of processes and threads are
// those of the initial pid namespace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::parse {

enum class ProcessEventKind : uint8_t {
  Fork,    // also of a new thread: then thread_id differs from pid
  Exec,    // its other threads have ended by then
  Comm,    // renamed by prctl or through /proc; exec sends none
  Exit,    // of one thread
  Answer,  // to the request to listen or to stop; whoever asked
};

struct ProcessEvent {
  ProcessEventKind kind = ProcessEventKind::Fork;
  uint64_t time_ns = 0;   // monotonic
  int32_t thread_id = 0;  // Fork: of the new one
  int32_t pid = 0;        // the process (thread group) of that thread
  // Fork: the parent it was given. A new thread has its creator's parent, as
  // has a process made with CLONE_PARENT.
  int32_t parent_pid = 0;
  std::string comm;         // Comm
  int32_t wait_status = 0;  // Exit: as wait() gives it
  // Answer: the request's own number, which it carried in cn_msg.ack.
  uint32_t request_id = 0;
  int32_t error_number = 0;  // Answer: 0 when granted
  bool operator==(const ProcessEvent&) const = default;
};
base::Result<std::vector<ProcessEvent>> parse_process_events(
    std::string_view datagram);

// struct taskstats of one thread that has ended, the fields somebody here
// needs. It grew over the years: a field is empty when the given length ends
// before it.
struct ExitRecord {
  uint16_t version = 0;
  int32_t thread_id = 0;
  // Its process: since version 12 (Linux 5.19) in every record, before that
  // only in the one of the last thread of several.
  std::optional<int32_t> pid;
  std::optional<int32_t> parent_pid;  // at the end: orphans have a new one
  std::string comm;
  // Only of a process's first thread; others have 0.
  std::optional<int32_t> wait_status;
  std::optional<uint64_t> started_realtime_s;
  std::optional<uint64_t> elapsed_us;
  // Of the address space the thread had at its end, which it shares with the
  // other threads. 0 without CONFIG_TASK_XACCT.
  std::optional<uint64_t> hiwater_rss_bytes;
  // The program's file: since version 12. Device in the encoding of stat().
  std::optional<uint64_t> exe_device_id;
  std::optional<uint64_t> exe_inode_id;
  // Nobody of its process was left. Never said of a single thread before
  // version 12.
  bool is_last_thread = false;
  // Only of a process's first thread.
  bool has_not_execed = false;
  bool operator==(const ExitRecord&) const = default;
};
// `family_id` is the number parse_family_id gave for "TASKSTATS".
base::Result<std::vector<ExitRecord>> parse_exit_records(
    std::string_view datagram, uint16_t family_id);

// The number of a generic netlink family, from the answer to
// CTRL_CMD_GETFAMILY. Empty when the datagram tells of no such family.
base::Result<std::optional<uint16_t>> parse_family_id(std::string_view datagram,
                                                      std::string_view name);

// What the kernel says to a request: an errno, 0 when it was done. Empty when
// the datagram holds no such word.
base::Result<std::optional<int>> parse_acknowledgement(
    std::string_view datagram);

}  // namespace tidemark::parse
