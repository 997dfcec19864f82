// Follows a tree of processes by netlink: one record for each that lived in it,
// however short. Needs root and nothing of BPF.
//
// Limits. Everything is told of the whole machine and by the numbers of the
// initial pid namespace, so it works there alone. A process made with
// CLONE_PARENT is its parent's brother and followed only if the parent's parent
// is of the tree. A vfork() child that never calls exec has its parent's high
// mark, since it has its parent's memory. What a process was before an exec
// leaves no mark, unless it had several threads then.
//
// Paths are read when the exec is told, so a program that ended sooner has
// none.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "model/run.h"
#include "source/netlink/process_feeds.h"
#include "source/netlink/process_lives.h"

namespace tidemark::source {

class ProcessEvents {
 public:
  // Listens from now on, so it comes before the fork that is to be followed.
  // Denied without CAP_NET_ADMIN; Unsupported in a container, or when the
  // kernel was built without it.
  static base::Result<ProcessEvents> listen();

  // From now on this process and all that is forked by one of the tree are of
  // the tree. What it has done since listen() counts too.
  void follow(int32_t root_pid);

  // Readable when drain() has work to do. Owned by this object.
  int fd() const { return epoll_.get(); }

  // Handles all that waits; calls `ended` once for each process of the tree
  // that has ended.
  base::Status drain(const ProcessLives::Taker& ended);

  // Gives those that have ended and whose exit record never came: it was lost.
  void finish(const ProcessLives::Taker& ended);

  std::vector<int32_t> living() const { return lives_.living(); }
  // What is known of those: no end, no peak.
  std::vector<model::ProcessLife> living_lives() const;

  // How often messages were lost because nobody called drain() in time. What
  // can be put right is: processes that have come or gone are looked up in
  // /proc, but those that did both in between are missing.
  uint64_t lost_count() const;

 private:
  ProcessEvents(ConnectorFeed connector, TaskstatsFeed taskstats,
                base::Fd epoll, base::Directory proc);
  base::Status apply_all(const ProcessLives::Taker& ended);
  base::Status apply(const parse::ProcessEvent& event);
  base::Result<bool> shelve_records();
  base::Status look_again(const ProcessLives::Taker& ended);
  void adopt_children();
  bool add_found(int32_t pid);

  ConnectorFeed connector_;
  TaskstatsFeed taskstats_;
  base::Fd epoll_;
  base::Directory proc_;
  ProcessLives lives_;
  uint64_t looked_at_lost_count_ = 0;
  bool must_look_again_ = false;
};

}  // namespace tidemark::source
