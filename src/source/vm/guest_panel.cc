#include "source/vm/guest_panel.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"

namespace tidemark::source {

using model::GuestAnswer;
using model::GuestState;

// What all threads meet at.
struct GuestPanel::Shared {
  std::mutex mutex;
  std::condition_variable has_answer;
};

struct GuestPanel::Worker {
  Worker(const Roots& the_roots, const QuestionOptions& the_options,
         Shared& the_shared, FoundVm the_vm)
      : roots(the_roots),
        options(the_options),
        shared(the_shared),
        vm(std::move(the_vm)) {}

  const Roots& roots;
  const QuestionOptions& options;
  Shared& shared;
  FoundVm vm;
  GuestMemory memory;  // the thread's alone
  pthread_t thread{};
  bool has_thread = false;

  // Under the mutex.
  std::condition_variable has_question;
  bool is_stopping = false;
  bool has_ended = false;  // the thread, or as good as
  uint64_t asked_round = 0;
  uint64_t answered_round = 0;
  uint64_t asked_ns = 0;
  uint64_t answered_realtime_s = 0;
  std::optional<GuestAnswer> answer;

  // The panel's alone.
  bool is_late = false;

  bool is_asking() const { return asked_round != answered_round; }
};

// Not std::thread, which ends the program where none may be started.
void* GuestPanel::run(void* argument) {
  Worker& worker = *static_cast<Worker*>(argument);
  std::unique_lock<std::mutex> lock(worker.shared.mutex);
  while (true) {
    worker.has_question.wait(
        lock, [&] { return worker.is_stopping || worker.is_asking(); });
    if (worker.is_stopping) {
      worker.has_ended = true;
      return nullptr;
    }
    const uint64_t round = worker.asked_round;
    lock.unlock();
    GuestAnswer answer =
        ask_guest(worker.roots, worker.vm, worker.options, worker.memory);
    lock.lock();
    worker.answer = std::move(answer);
    worker.answered_round = round;
    worker.answered_realtime_s = base::realtime_ns() / base::kNsPerSecond;
    worker.shared.has_answer.notify_one();
  }
}

GuestPanel::GuestPanel(const Roots& roots, QuestionOptions options)
    : roots_(roots),
      options_(std::move(options)),
      shared_(std::make_unique<Shared>()) {}

void GuestPanel::dismiss(std::unique_ptr<Worker> worker) {
  if (!worker->has_thread) return;
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    worker->is_stopping = true;
  }
  worker->has_question.notify_one();
  leaving_.push_back(std::move(worker));
}

void GuestPanel::part_with_ended() {
  std::erase_if(leaving_, [&](const std::unique_ptr<Worker>& worker) {
    {
      const std::lock_guard<std::mutex> lock(shared_->mutex);
      if (!worker->has_ended) return false;
    }
    ::pthread_join(worker->thread, nullptr);
    return true;
  });
}

GuestPanel::~GuestPanel() {
  // All told before the first is waited for.
  for (auto& [key, worker] : workers_)
    dismiss(std::move(worker));
  for (const std::unique_ptr<Worker>& worker : leaving_)
    ::pthread_join(worker->thread, nullptr);
}

std::unique_ptr<GuestPanel::Worker> GuestPanel::start(const FoundVm& vm) {
  auto worker = std::make_unique<Worker>(roots_, options_, *shared_, vm);
  worker->has_thread =
      ::pthread_create(&worker->thread, nullptr, run, worker.get()) == 0;
  return worker;
}

void GuestPanel::ask(const std::vector<FoundVm>& vms) {
  ++round_;
  std::map<Key, std::unique_ptr<Worker>> kept;
  for (const FoundVm& vm : vms) {
    const Key key(vm.id.pid, vm.id.start_ticks);
    auto known = workers_.find(key);
    kept[key] = known == workers_.end() ? start(vm) : std::move(known->second);
  }
  for (auto& [key, worker] : workers_)
    if (worker) dismiss(std::move(worker));
  part_with_ended();
  workers_ = std::move(kept);
  const uint64_t now_ns = base::monotonic_ns();
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  for (auto& [key, worker] : workers_) {
    if (worker->is_asking()) continue;
    worker->asked_round = round_;
    worker->asked_ns = now_ns;
    worker->has_question.notify_one();
  }
}

GuestAnswer GuestPanel::answer_of(Worker& worker) const {
  if (!worker.answer) {
    GuestAnswer answer;
    answer.state = GuestState::Failed;
    answer.because =
        worker.has_thread
            ? "no answer yet, asked " +
                  std::to_string((base::monotonic_ns() - worker.asked_ns) /
                                 1'000'000) +
                  " ms ago"
            : "no thread could be started to ask it";
    return answer;
  }
  GuestAnswer answer = *worker.answer;
  const bool is_before = worker.answered_round != round_;
  if (is_before && !answer.updated_realtime_s) {
    answer.updated_realtime_s = worker.answered_realtime_s;
  }
  return answer;
}

std::vector<GuestAnswer> GuestPanel::answers(const std::vector<FoundVm>& vms,
                                             uint64_t patience_ns) {
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience_ns);
  std::unique_lock<std::mutex> lock(shared_->mutex);
  shared_->has_answer.wait_until(lock, end, [&] {
    return std::ranges::none_of(workers_, [](const auto& entry) {
      const Worker& worker = *entry.second;
      return worker.has_thread && worker.is_asking() && !worker.is_late;
    });
  });
  std::vector<GuestAnswer> all;
  all.reserve(vms.size());
  for (const FoundVm& vm : vms) {
    Worker& worker = *workers_.at(Key(vm.id.pid, vm.id.start_ticks));
    // Who has only now answered the question before has not proved quick, nor
    // has one of whom nothing came but the end of its time.
    worker.is_late = worker.answered_round != round_ ||
                     worker.answer->asked_ns >= options_.deadline_ns;
    all.push_back(answer_of(worker));
  }
  return all;
}

}  // namespace tidemark::source
