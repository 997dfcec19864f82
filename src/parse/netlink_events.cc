#include "parse/netlink_events.h"

#include <linux/acct.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include "parse/bytes.h"
#include "parse/netlink_message.h"

namespace tidemark::parse {
namespace {

using base::ErrorKind;
using base::fail;
using base::Result;

base::Error bad(std::string_view feed, std::string_view why) {
  return fail(ErrorKind::Malformed,
              std::string(feed) + ": " + std::string(why));
}

constexpr std::string_view kBadMessage = "a message beyond what was received";
constexpr std::string_view kBadAttribute = "an attribute beyond its message";
constexpr std::string_view kTooShort = "a message too short for its kind";

// ---- the proc connector -----------------------------------------------------

constexpr std::string_view kConnector = "process events";

// cn_msg without its flexible array, which C++ does not have.
struct ConnectorHead {
  uint32_t index;
  uint32_t value;
  uint32_t sequence;
  uint32_t ack;
  uint16_t length;
  uint16_t flags;
};
static_assert(sizeof(ConnectorHead) == sizeof(cn_msg));

// Ours, because <linux/cn_proc.h> moved its enumerators in 6.6.
constexpr uint32_t kAnswer = 0;
constexpr uint32_t kFork = 0x1;
constexpr uint32_t kExec = 0x2;
constexpr uint32_t kComm = 0x200;
constexpr uint32_t kExit = 0x80000000;

// Reads several fields of one message; afterwards `all_there` tells whether
// every one lay inside.
struct FieldReader {
  std::string_view bytes;
  bool all_there = true;

  template <typename T>
  T take(size_t offset) {
    const std::optional<T> value = read_at<T>(bytes, offset);
    all_there = all_there && value.has_value();
    return value.value_or(T{});
  }
  std::string take_text(size_t offset, size_t size) {
    all_there = all_there && bytes.size() >= offset + size;
    return text_at(bytes, offset, size);
  }
};

// False for kinds nobody here needs.
bool read_event(FieldReader& fields, ProcessEvent& event) {
  // Exec, comm and exit begin alike: thread, then process.
  constexpr size_t kThread = offsetof(proc_event, event_data.exec.process_pid);
  constexpr size_t kProcess =
      offsetof(proc_event, event_data.exec.process_tgid);
  event.time_ns = fields.take<uint64_t>(offsetof(proc_event, timestamp_ns));
  size_t thread_offset = kThread;
  size_t process_offset = kProcess;
  switch (fields.take<uint32_t>(offsetof(proc_event, what))) {
    case kAnswer:
      event.kind = ProcessEventKind::Answer;
      event.error_number =
          fields.take<int32_t>(offsetof(proc_event, event_data.ack.err));
      return true;
    case kFork:
      event.kind = ProcessEventKind::Fork;
      event.parent_pid = fields.take<int32_t>(
          offsetof(proc_event, event_data.fork.parent_tgid));
      thread_offset = offsetof(proc_event, event_data.fork.child_pid);
      process_offset = offsetof(proc_event, event_data.fork.child_tgid);
      break;
    case kExec:
      event.kind = ProcessEventKind::Exec;
      break;
    case kComm:
      event.kind = ProcessEventKind::Comm;
      event.comm = fields.take_text(offsetof(proc_event, event_data.comm.comm),
                                    sizeof(proc_event::event_data.comm.comm));
      break;
    case kExit:
      event.kind = ProcessEventKind::Exit;
      event.wait_status =
          fields.take<int32_t>(offsetof(proc_event, event_data.exit.exit_code));
      break;
    default:
      return false;
  }
  event.thread_id = fields.take<int32_t>(thread_offset);
  event.pid = fields.take<int32_t>(process_offset);
  return true;
}

// ---- taskstats --------------------------------------------------------------

constexpr std::string_view kTaskstats = "taskstats";

// Version 15 (Linux 6.14, and 6.15 as first released) has two more fields of
// eight bytes behind each of these, in the middle of the struct. Version 16
// moved them to the end, where the rules of that file had wanted them.
constexpr uint16_t kWidenedVersion = 15;
constexpr std::array<size_t, 6> kWidenedAfter = {
    offsetof(taskstats, cpu_delay_total),
    offsetof(taskstats, blkio_delay_total),
    offsetof(taskstats, swapin_delay_total),
    offsetof(taskstats, freepages_delay_total),
    offsetof(taskstats, thrashing_delay_total),
    offsetof(taskstats, compact_delay_total),
};

// struct taskstats as long as it came.
struct Stats {
  std::string_view bytes;
  uint16_t version = 0;

  size_t place_of(size_t offset) const {
    if (version != kWidenedVersion) return offset;
    const auto before = std::ranges::count_if(
        kWidenedAfter, [offset](size_t field) { return field < offset; });
    return offset + static_cast<size_t>(before) * 2 * sizeof(uint64_t);
  }
  template <typename T>
  std::optional<T> field(size_t offset) const {
    return read_at<T>(bytes, place_of(offset));
  }
};

Result<std::optional<uint64_t>> bytes_of_kib(std::optional<uint64_t> kib) {
  if (!kib) return std::optional<uint64_t>();
  if (*kib > std::numeric_limits<uint64_t>::max() / 1024) {
    return bad(kTaskstats, "a high mark beyond any memory");
  }
  return std::optional<uint64_t>(*kib * 1024);
}

base::Status read_stats(const Stats& stats, ExitRecord& record) {
  record.version = stats.version;
  // Whatever else a later version moves: a record that is not about the thread
  // it is said to be about must not be taken for its memory.
  const std::optional<int32_t> about =
      stats.field<int32_t>(offsetof(taskstats, ac_pid));
  if (about && *about != record.thread_id) {
    return bad(kTaskstats,
               "unknown layout of version " + std::to_string(stats.version));
  }
  Result<std::optional<uint64_t>> peak =
      bytes_of_kib(stats.field<uint64_t>(offsetof(taskstats, hiwater_rss)));
  if (!peak) return peak.error();
  record.hiwater_rss_bytes = *peak;
  record.pid = stats.field<int32_t>(offsetof(taskstats, ac_tgid));
  record.exe_device_id = stats.field<uint64_t>(offsetof(taskstats, ac_exe_dev));
  record.exe_inode_id =
      stats.field<uint64_t>(offsetof(taskstats, ac_exe_inode));
  record.parent_pid = stats.field<int32_t>(offsetof(taskstats, ac_ppid));
  record.comm =
      text_at(stats.bytes, stats.place_of(offsetof(taskstats, ac_comm)),
              sizeof(taskstats::ac_comm));
  record.wait_status = stats.field<int32_t>(offsetof(taskstats, ac_exitcode));
  // The long one is since version 10 (Linux 5.5); the short one ends in 2106.
  record.started_realtime_s =
      stats.field<uint64_t>(offsetof(taskstats, ac_btime64));
  if (!record.started_realtime_s) {
    record.started_realtime_s =
        stats.field<uint32_t>(offsetof(taskstats, ac_btime));
  }
  record.elapsed_us = stats.field<uint64_t>(offsetof(taskstats, ac_etime));
  const uint8_t flags =
      stats.field<uint8_t>(offsetof(taskstats, ac_flag)).value_or(0);
  record.has_not_execed = (flags & AFORK) != 0;
  record.is_last_thread = (flags & AGROUP) != 0;
  return base::Ok{};
}

// The body of TASKSTATS_TYPE_AGGR_PID or _TGID: a number and a struct.
struct Aggregate {
  int32_t id = 0;
  std::optional<Stats> stats;
};

Result<Aggregate> parse_aggregate(std::string_view body) {
  Aggregate aggregate;
  while (!body.empty()) {
    const std::optional<NetlinkPart> part = take_attribute(body);
    if (!part) return bad(kTaskstats, kBadAttribute);
    if (part->type == TASKSTATS_TYPE_STATS) {
      const std::optional<uint16_t> version = read_at<uint16_t>(part->body, 0);
      if (!version) return bad(kTaskstats, kTooShort);
      aggregate.stats = Stats{part->body, *version};
    } else if (part->type == TASKSTATS_TYPE_PID ||
               part->type == TASKSTATS_TYPE_TGID) {
      const std::optional<int32_t> id = read_at<int32_t>(part->body, 0);
      if (!id) return bad(kTaskstats, kTooShort);
      aggregate.id = *id;
    }
  }
  return aggregate;
}

// One message is one thread. The last thread of several brings the sum over
// all of them in a second aggregate, which knows no memory: it serves for its
// number alone. Empty when the message holds no thread.
Result<std::optional<ExitRecord>> parse_exit_record(
    std::string_view attributes) {
  std::optional<ExitRecord> record;
  std::optional<int32_t> whole_process;
  while (!attributes.empty()) {
    const std::optional<NetlinkPart> part = take_attribute(attributes);
    if (!part) return bad(kTaskstats, kBadAttribute);
    const bool is_thread = part->type == TASKSTATS_TYPE_AGGR_PID;
    if (!is_thread && part->type != TASKSTATS_TYPE_AGGR_TGID) continue;
    Result<Aggregate> aggregate = parse_aggregate(part->body);
    if (!aggregate) return aggregate.error();
    if (!is_thread) {
      whole_process = aggregate->id;
      continue;
    }
    record.emplace().thread_id = aggregate->id;
    if (!aggregate->stats) return bad(kTaskstats, kTooShort);
    base::Status status = read_stats(*aggregate->stats, *record);
    if (!status) return status.error();
  }
  if (record && whole_process) {
    record->is_last_thread = true;
    if (!record->pid) record->pid = whole_process;
  }
  return record;
}

}  // namespace

Result<std::vector<ProcessEvent>> parse_process_events(
    std::string_view datagram) {
  std::vector<ProcessEvent> events;
  while (!datagram.empty()) {
    const std::optional<NetlinkPart> message = take_message(datagram);
    if (!message) return bad(kConnector, kBadMessage);
    // The connector gives this type to all it sends.
    if (message->type != NLMSG_DONE) continue;
    const std::optional<ConnectorHead> head =
        read_at<ConnectorHead>(message->body, 0);
    if (!head) return bad(kConnector, kTooShort);
    if (head->index != CN_IDX_PROC || head->value != CN_VAL_PROC) continue;
    const std::string_view body = message->body.substr(sizeof *head);
    if (head->length > body.size()) return bad(kConnector, kBadMessage);
    FieldReader fields{body.substr(0, head->length)};
    ProcessEvent event;
    const bool is_needed = read_event(fields, event);
    if (!fields.all_there) return bad(kConnector, kTooShort);
    if (!is_needed) continue;
    if (event.kind == ProcessEventKind::Answer) {
      event.request_id = head->ack - 1;  // the kernel adds one
    }
    events.push_back(std::move(event));
  }
  return events;
}

Result<std::vector<ExitRecord>> parse_exit_records(std::string_view datagram,
                                                   uint16_t family_id) {
  std::vector<ExitRecord> records;
  while (!datagram.empty()) {
    const std::optional<NetlinkPart> message = take_message(datagram);
    if (!message) return bad(kTaskstats, kBadMessage);
    if (message->type != family_id) continue;
    const std::optional<genlmsghdr> head =
        read_at<genlmsghdr>(message->body, 0);
    if (!head) return bad(kTaskstats, kTooShort);
    if (head->cmd != TASKSTATS_CMD_NEW) continue;
    Result<std::optional<ExitRecord>> record =
        parse_exit_record(message->body.substr(sizeof *head));
    if (!record) return record.error();
    if (*record) records.push_back(std::move(**record));
  }
  return records;
}

Result<std::optional<uint16_t>> parse_family_id(std::string_view datagram,
                                                std::string_view name) {
  constexpr std::string_view kFamilies = "netlink families";
  while (!datagram.empty()) {
    const std::optional<NetlinkPart> message = take_message(datagram);
    if (!message) return bad(kFamilies, kBadMessage);
    if (message->type != GENL_ID_CTRL) continue;
    if (message->body.size() < sizeof(genlmsghdr)) {
      return bad(kFamilies, kTooShort);
    }
    std::string_view attributes = message->body.substr(sizeof(genlmsghdr));
    std::optional<uint16_t> id;
    bool is_named_so = false;
    while (!attributes.empty()) {
      const std::optional<NetlinkPart> part = take_attribute(attributes);
      if (!part) return bad(kFamilies, kBadAttribute);
      if (part->type == CTRL_ATTR_FAMILY_ID) {
        id = read_at<uint16_t>(part->body, 0);
      } else if (part->type == CTRL_ATTR_FAMILY_NAME) {
        is_named_so = text_at(part->body, 0, part->body.size()) == name;
      }
    }
    if (id && is_named_so) return id;
  }
  return std::optional<uint16_t>();
}

Result<std::optional<int>> parse_acknowledgement(std::string_view datagram) {
  constexpr std::string_view kAnswers = "netlink answers";
  while (!datagram.empty()) {
    const std::optional<NetlinkPart> message = take_message(datagram);
    if (!message) return bad(kAnswers, kBadMessage);
    if (message->type != NLMSG_ERROR) continue;
    const std::optional<int32_t> code = read_at<int32_t>(message->body, 0);
    if (!code) return bad(kAnswers, kTooShort);
    // The kernel's errors are negative. Its limit keeps a hostile one from
    // being negated out of range.
    constexpr int32_t kHighestErrno = 4095;
    if (*code > 0 || *code < -kHighestErrno) {
      return bad(kAnswers, "an error number out of range");
    }
    return std::optional<int>(-*code);
  }
  return std::optional<int>();
}

}  // namespace tidemark::parse
