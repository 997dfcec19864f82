// A conversation with QEMU's monitor. A monitor speaks to one client at a time
// and lets others wait without a word, so it is held only as long as needed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unix_socket.h"
#include "model/vm.h"
#include "parse/vm_replies.h"
#include "source/roots.h"
#include "source/vm/control_socket.h"

namespace tidemark::source {

class QmpSession {
 public:
  // Nothing is sent before the other side has greeted as QEMU does: the path
  // may lead to a socket of somebody else. Gone: connected, and no greeting.
  static base::Result<QmpSession> open(const Roots& roots,
                                       const ControlPath& control,
                                       uint64_t deadline_ns);

  // RAM minus balloon. NotFound without a balloon.
  base::Result<uint64_t> balloon_actual();
  base::Result<uint64_t> memory_size();
  // All of guest RAM. Empty where it is not told whole: of a QEMU before 5.0.
  base::Result<std::vector<model::RamBlock>> ram_blocks();
  // Paths of balloon devices in QEMU's tree of objects.
  base::Result<std::vector<std::string>> balloon_paths();
  // The line that answers; what it means depends on the property.
  base::Result<std::string> property(const std::string& path,
                                     std::string_view name);
  base::Status set_polling(const std::string& path, uint64_t interval_s);

 private:
  QmpSession(base::UnixSocket socket, uint64_t deadline_ns)
      : socket_(std::move(socket)), deadline_ns_(deadline_ns) {}
  base::Result<std::string> ask(std::string_view request);
  base::Status greet();
  // What the monitor for people prints: for questions QMP has no words for.
  base::Result<std::string> print(std::string_view command);
  void add_first_address(std::vector<parse::QmpRamBlock>& blocks);

  base::UnixSocket socket_;
  uint64_t deadline_ns_;
};

}  // namespace tidemark::source
