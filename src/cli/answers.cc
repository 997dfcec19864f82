#include "cli/answers.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "view/web/routes.h"

namespace tidemark::cli {
namespace {

std::string key_of(const Question& question) {
  if (question.state.empty()) return "";
  std::string key = question.state;
  for (const std::string& word : question.arguments)
    key += '\0' + word;
  return key;
}

// "tidemark: what\n  hint: what to do\n" as print_error() wrote it.
base::HttpAnswer refusal_of(const std::string& errors) {
  constexpr std::string_view kName = "tidemark: ";
  constexpr std::string_view kHint = "  hint: ";
  std::string_view text = errors;
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  const std::string_view what = text.substr(0, text.find('\n'));
  std::string_view hint;
  const size_t at = text.find(kHint);
  if (at != std::string_view::npos) {
    hint = text.substr(at + kHint.size());
    hint = hint.substr(0, hint.find('\n'));
  }
  return view::error_answer(
      422, what.empty() ? "it ended without a word" : what, hint);
}

}  // namespace

Answers::Answers(std::string program, const AnswerLimits& limits)
    : program_(std::move(program)), limits_(limits) {
  // Without it one has to wait for them at the end, that is all.
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) == 0) {
    stop_read_ = base::Fd(ends[0]);
    stop_write_ = base::Fd(ends[1]);
    limits_.child.stop_fd = stop_read_.get();
  }
  for (size_t i = 0; i < limits.thread_count; ++i)
    threads_.emplace_back([this] { work(); });
}

Answers::~Answers() {
  {
    const std::lock_guard lock(guard_);
    is_ending_ = true;
    waiting_.clear();
    stop_write_ = base::Fd();
  }
  has_work_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void Answers::ask(Question question, Tell tell) {
  std::string key = key_of(question);
  std::unique_lock lock(guard_);
  const auto known = by_key_.find(key);
  if (known != by_key_.end()) {
    kept_.splice(kept_.begin(), kept_, known->second);
    base::HttpAnswer answer = known->second->answer;
    lock.unlock();
    tell(std::move(answer));
    return;
  }
  if (const auto sought = askers_.find(key); sought != askers_.end()) {
    sought->second.push_back(std::move(tell));
    return;
  }
  if (waiting_.size() >= limits_.waiting_count) {
    lock.unlock();
    tell(view::error_answer(503, "too many questions at once",
                            "ask again in a moment"));
    return;
  }
  if (!key.empty()) {
    askers_[key].push_back(std::move(tell));
    tell = nullptr;
  }
  waiting_.push_back({std::move(question), std::move(key), std::move(tell)});
  lock.unlock();
  has_work_.notify_one();
}

void Answers::work() {
  while (true) {
    std::unique_lock lock(guard_);
    has_work_.wait(lock, [&] { return is_ending_ || !waiting_.empty(); });
    if (is_ending_) return;
    Waiting one = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    const base::HttpAnswer found = answer(one.question);
    lock.lock();
    if (!one.key.empty() && found.status == 200) keep(one.key, found);
    const std::vector<Tell> askers = take_askers(one);
    lock.unlock();
    for (const Tell& tell : askers)
      tell(found);
  }
}

std::vector<Answers::Tell> Answers::take_askers(Waiting& one) {
  if (one.key.empty()) return {std::move(one.tell)};
  auto askers = askers_.extract(one.key);
  return std::move(askers.mapped());
}

base::HttpAnswer Answers::answer(const Question& question) const {
  base::Result<base::ChildOutput> child =
      base::run_child(program_, question.arguments, limits_.child);
  if (!child) {
    return view::error_answer(
        child.error().kind == base::ErrorKind::Gone ? 504 : 500,
        child.error().what, "the same by the command line has no such limit");
  }
  // A part that could not be read makes some commands end with 1, and what they
  // print says so: that is an answer.
  if (child->output.empty()) return refusal_of(child->errors);
  base::HttpAnswer answer;
  answer.type = question.type;
  answer.body = std::move(child->output);
  return answer;
}

void Answers::keep(const std::string& key, const base::HttpAnswer& answer) {
  if (by_key_.contains(key) || answer.body.size() > limits_.kept_bytes / 2) {
    return;
  }
  kept_.push_front({key, answer});
  by_key_[key] = kept_.begin();
  kept_bytes_ += answer.body.size();
  while (kept_bytes_ > limits_.kept_bytes) {
    kept_bytes_ -= kept_.back().answer.body.size();
    by_key_.erase(kept_.back().key);
    kept_.pop_back();
  }
}

}  // namespace tidemark::cli
