// A process that does nothing but wait for our end. Killed with SIGKILL we
// cannot undo what we arranged for the command: groups would stay, frozen
// processes stay frozen, stopped ones stopped, and traces go on. The guardian
// then does it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "source/target/group_place.h"

namespace tidemark::source {

struct GuardedThings {
  std::vector<GroupPlace> groups;  // made or about to be made
  // We stop processes of the tree: those that stand when we die are continued.
  bool continues_stopped = false;
  std::vector<std::string> trace_instances = {};  // their names in tracefs
  // With the files in them. Whoever writes there may take a moment to end.
  std::vector<std::string> folders = {};
};

class Guardian {
 public:
  // Before anything it guards is made.
  static base::Result<Guardian> start(const GuardedThings& things);
  Guardian(Guardian&& other) noexcept;
  Guardian& operator=(Guardian&&) = delete;
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  // It ends without touching anything: whoever started it has cleaned up.
  ~Guardian();

  // Between these two it thaws by itself when we take longer than 200 ms.
  void will_freeze();
  void has_thawed();

  pid_t pid() const { return pid_; }

 private:
  Guardian(pid_t pid, base::Fd line);
  void say(char word);

  pid_t pid_ = 0;
  base::Fd line_;  // its other end tells the guardian that we are gone
};

}  // namespace tidemark::source
