#include "source/netlink/process_feeds.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using base::Result;
using base::Status;

// Says which feed failed, and what would open it.
base::Error feed_error(std::string_view feed, const base::Error& error) {
  base::Error full = base::within(feed, error);
  if (full.kind != ErrorKind::Denied) return full;
  return base::fail(ErrorKind::Denied, full.what,
                    "run as root, or setcap cap_net_admin+ep on the binary");
}

// ---- the proc connector -----------------------------------------------------

constexpr std::string_view kConnectorName = "process events connector";

std::string connector_request(proc_cn_mcast_op operation, uint32_t request_id) {
  cb_id id{};
  id.idx = CN_IDX_PROC;
  id.val = CN_VAL_PROC;
  const uint32_t sequence = 0;  // the kernel replaces it in its answer
  const auto length = static_cast<uint16_t>(sizeof operation);
  const uint16_t flags = 0;
  std::string body;
  append_bytes(body, id);
  append_bytes(body, sequence);
  append_bytes(body, request_id);
  append_bytes(body, length);
  append_bytes(body, flags);
  append_bytes(body, operation);
  return body;
}

// Answers go to all listeners, so one knows one's own by this number.
uint32_t own_request_id() {
  return static_cast<uint32_t>(::getpid());
}

// ---- taskstats --------------------------------------------------------------

constexpr std::string_view kTaskstatsName = "taskstats";

std::string generic_request(uint8_t command, uint16_t attribute,
                            std::string_view contents) {
  genlmsghdr head{};
  head.cmd = command;
  head.version = TASKSTATS_GENL_VERSION;
  std::string body;
  append_bytes(body, head);
  append_attribute(body, attribute, contents);
  return body;
}

// Receives until `find` has found the answer, or until the kernel has said no.
// The kernel answers within the request, so nothing left to read is an error.
template <typename T>
Result<T> wait_for(NetlinkSocket& socket, auto find) {
  for (;;) {
    Result<std::string_view> datagram = socket.receive();
    if (!datagram) return datagram.error();
    if (datagram->empty()) {
      return base::fail(ErrorKind::Unsupported, "the kernel does not answer");
    }
    Result<std::optional<int>> word = parse::parse_acknowledgement(*datagram);
    if (!word) return word.error();
    if (*word && **word != 0) {
      return base::fail_errno("the kernel refuses", **word);
    }
    Result<std::optional<T>> found = find(*datagram);
    if (!found) return found.error();
    if (*found) return std::move(**found);
  }
}

Result<uint16_t> ask_family_id(NetlinkSocket& socket) {
  const std::string_view name = TASKSTATS_GENL_NAME;
  const std::string name_with_end(name.data(), name.size() + 1);
  Status status =
      socket.send(GENL_ID_CTRL, NLM_F_REQUEST,
                  generic_request(CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
                                  name_with_end));
  if (!status) return status.error();
  Result<uint16_t> id =
      wait_for<uint16_t>(socket, [name](std::string_view datagram) {
        return parse::parse_family_id(datagram, name);
      });
  // Hidden in network namespaces but the initial one.
  if (!id && id.error().kind == ErrorKind::NotFound) {
    return base::fail(ErrorKind::Unsupported,
                      "this kernel or this network namespace has none");
  }
  return id;
}

// Processors that come online later included: the kernel refuses a list of
// more than the possible ones, and sends nothing from those not in it.
Result<std::string> possible_cpus() {
  Result<base::Directory> directory =
      base::open_directory("/sys/devices/system/cpu");
  if (!directory) return directory.error();
  Result<std::string> text = base::read_file_at(*directory, "possible");
  if (!text) return text.error();
  return std::string(base::trim(base::split(*text, '\n').front()));
}

}  // namespace

ConnectorFeed::ConnectorFeed(NetlinkSocket socket)
    : socket_(std::move(socket)) {}

Result<ConnectorFeed> ConnectorFeed::open() {
  Result<NetlinkSocket> socket =
      NetlinkSocket::open(NETLINK_CONNECTOR, CN_IDX_PROC);
  if (!socket) return feed_error(kConnectorName, socket.error());
  // From here on an early return tells the kernel to stop.
  ConnectorFeed feed(std::move(*socket));
  Status status = feed.socket_.send(
      NLMSG_DONE, 0, connector_request(PROC_CN_MCAST_LISTEN, own_request_id()));
  if (!status) return feed_error(kConnectorName, status.error());
  for (;;) {
    Result<std::vector<parse::ProcessEvent>> events = feed.receive();
    if (!events) return feed_error(kConnectorName, events.error());
    if (events->empty()) {
      // Requests from other namespaces are dropped without a word.
      return base::fail(
          ErrorKind::Unsupported,
          std::string(kConnectorName) + ": the kernel does not answer");
    }
    for (const parse::ProcessEvent& event : *events) {
      if (event.kind != parse::ProcessEventKind::Answer ||
          event.request_id != own_request_id()) {
        continue;
      }
      if (event.error_number == 0) return feed;
      return feed_error(kConnectorName, base::fail_errno("the kernel refuses",
                                                         event.error_number));
    }
  }
}

ConnectorFeed::~ConnectorFeed() {
  if (!socket_.is_own()) return;
  (void)socket_.send(NLMSG_DONE, 0,
                     connector_request(PROC_CN_MCAST_IGNORE, own_request_id()));
}

Result<std::vector<parse::ProcessEvent>> ConnectorFeed::receive() {
  for (;;) {
    Result<std::string_view> datagram = socket_.receive();
    if (!datagram) return datagram.error();
    if (datagram->empty()) return std::vector<parse::ProcessEvent>();
    Result<std::vector<parse::ProcessEvent>> events =
        parse::parse_process_events(*datagram);
    if (!events || !events->empty()) return events;
  }
}

TaskstatsFeed::TaskstatsFeed(NetlinkSocket socket, uint16_t family_id)
    : socket_(std::move(socket)), family_id_(family_id) {}

TaskstatsFeed& TaskstatsFeed::operator=(TaskstatsFeed&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(family_id_, other.family_id_);
  std::swap(cpu_list_, other.cpu_list_);
  return *this;
}

Result<TaskstatsFeed> TaskstatsFeed::open() {
  Result<NetlinkSocket> socket = NetlinkSocket::open(NETLINK_GENERIC, 0);
  if (!socket) return feed_error(kTaskstatsName, socket.error());
  Result<uint16_t> family_id = ask_family_id(*socket);
  if (!family_id) return feed_error(kTaskstatsName, family_id.error());
  TaskstatsFeed feed(std::move(*socket), *family_id);
  Status status = feed.check_own_record();
  if (!status) return feed_error(kTaskstatsName, status.error());
  Result<std::string> cpus = possible_cpus();
  if (!cpus) return feed_error(kTaskstatsName, cpus.error());
  feed.cpu_list_ = std::move(*cpus);
  status = feed.command_cpus(TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);
  if (!status) return feed_error(kTaskstatsName, status.error());
  return feed;
}

TaskstatsFeed::~TaskstatsFeed() {
  if (!socket_.is_own() || cpu_list_.empty()) return;
  (void)command_cpus(TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
}

// Asks for the account of ourselves. It must be about us, or the layout is one
// we do not know; and it must tell a high mark, or there is nothing to gain.
Status TaskstatsFeed::check_own_record() {
  std::string pid;
  append_bytes(pid, static_cast<uint32_t>(::getpid()));
  Status status = socket_.send(
      family_id_, NLM_F_REQUEST,
      generic_request(TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, pid));
  if (!status) return status;
  Result<uint64_t> peak = wait_for<uint64_t>(
      socket_,
      [this](std::string_view datagram) -> Result<std::optional<uint64_t>> {
        Result<std::vector<parse::ExitRecord>> records =
            parse::parse_exit_records(datagram, family_id_);
        if (!records) return records.error();
        if (records->empty()) return std::optional<uint64_t>();
        return std::optional<uint64_t>(
            records->front().hiwater_rss_bytes.value_or(0));
      });
  if (!peak) return peak.error();
  if (*peak == 0) {
    return base::fail(ErrorKind::Unsupported,
                      "this kernel keeps no high marks (CONFIG_TASK_XACCT)");
  }
  return base::Ok{};
}

Status TaskstatsFeed::command_cpus(uint16_t attribute) {
  // With its final NUL: the kernel takes the last byte for one.
  const std::string list(cpu_list_.c_str(), cpu_list_.size() + 1);
  Status status =
      socket_.send(family_id_, NLM_F_REQUEST | NLM_F_ACK,
                   generic_request(TASKSTATS_CMD_GET, attribute, list));
  if (!status) return status;
  // Threads that end right now may be told of before the answer is: they have
  // nobody yet, or no longer, who waits for them.
  Result<int> done = wait_for<int>(socket_, parse::parse_acknowledgement);
  if (!done) return done.error();
  return base::Ok{};
}

Result<std::vector<parse::ExitRecord>> TaskstatsFeed::receive() {
  for (;;) {
    Result<std::string_view> datagram = socket_.receive();
    if (!datagram) return datagram.error();
    if (datagram->empty()) return std::vector<parse::ExitRecord>();
    Result<std::vector<parse::ExitRecord>> records =
        parse::parse_exit_records(*datagram, family_id_);
    if (!records || !records->empty()) return records;
  }
}

}  // namespace tidemark::source
