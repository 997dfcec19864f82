// The two netlink feeds that tell of every process of the machine. Each is
// opened only if the kernel has confirmed it, and told off at the end: a kernel
// that goes on making messages for nobody slows every fork down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "parse/netlink_events.h"
#include "source/netlink/netlink_socket.h"

namespace tidemark::source {

// Forks, execs, exits as they happen.
//
// Kernels before 6.6 count a listener that is killed for ever: they go on
// making events for nobody until the next boot.
class ConnectorFeed {
 public:
  static base::Result<ConnectorFeed> open();
  ConnectorFeed(ConnectorFeed&& other) noexcept = default;
  ConnectorFeed& operator=(ConnectorFeed&& other) noexcept = default;
  ConnectorFeed(const ConnectorFeed&) = delete;
  ConnectorFeed& operator=(const ConnectorFeed&) = delete;
  ~ConnectorFeed();

  // What one datagram holds; empty when none is waiting. Never empty for
  // another reason.
  base::Result<std::vector<parse::ProcessEvent>> receive();
  const NetlinkSocket& socket() const { return socket_; }

 private:
  explicit ConnectorFeed(NetlinkSocket socket);

  NetlinkSocket socket_;
};

// The account of every thread that has ended. The kernel sends it before the
// exit event of the same thread, without exception: it is made while the memory
// is still there, and the event after.
class TaskstatsFeed {
 public:
  static base::Result<TaskstatsFeed> open();
  TaskstatsFeed(TaskstatsFeed&& other) noexcept = default;
  TaskstatsFeed& operator=(TaskstatsFeed&& other) noexcept;
  TaskstatsFeed(const TaskstatsFeed&) = delete;
  TaskstatsFeed& operator=(const TaskstatsFeed&) = delete;
  ~TaskstatsFeed();

  // As above.
  base::Result<std::vector<parse::ExitRecord>> receive();
  const NetlinkSocket& socket() const { return socket_; }

 private:
  TaskstatsFeed(NetlinkSocket socket, uint16_t family_id);
  base::Status check_own_record();
  base::Status command_cpus(uint16_t attribute);

  NetlinkSocket socket_;
  uint16_t family_id_ = 0;
  // As the kernel writes it, "0-63"; empty before registration.
  std::string cpu_list_;
};

}  // namespace tidemark::source
