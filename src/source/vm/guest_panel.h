// Asks many guests again and again, each by a thread of its own: one that does
// not answer delays nobody.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "model/vm.h"
#include "source/roots.h"
#include "source/vm/guest_question.h"
#include "source/vm/vm_finder.h"

namespace tidemark::source {

class GuestPanel {
 public:
  GuestPanel(const Roots& roots, QuestionOptions options);
  GuestPanel(const GuestPanel&) = delete;
  GuestPanel& operator=(const GuestPanel&) = delete;
  // Waits for those that are being asked, at most until their deadlines.
  ~GuestPanel();

  // Begins to ask all of these; who is still busy with the last question is not
  // asked another. Others are forgotten, and not waited for.
  void ask(const std::vector<FoundVm>& vms);

  // One answer for each, in their order. Waits until all have answered or for
  // `patience_ns`, and not at all for those that took longer the last time: of
  // these it is the answer before, with its age, until there is another.
  std::vector<model::GuestAnswer> answers(const std::vector<FoundVm>& vms,
                                          uint64_t patience_ns);

 private:
  struct Shared;
  struct Worker;
  using Key = std::pair<int32_t, uint64_t>;

  static void* run(void* worker);
  void dismiss(std::unique_ptr<Worker> worker);
  void part_with_ended();
  std::unique_ptr<Worker> start(const FoundVm& vm);
  model::GuestAnswer answer_of(Worker& worker) const;

  const Roots& roots_;
  QuestionOptions options_;
  std::unique_ptr<Shared> shared_;
  std::map<Key, std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Worker>> leaving_;  // their threads still run
  uint64_t round_ = 0;
};

}  // namespace tidemark::source
