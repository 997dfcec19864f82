// What `serve` answers is what the commands print: each question runs this same
// program as another process, with limits. One that hangs, swells or crashes
// takes nothing else with it, and an answer cannot differ from `--json`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/child_output.h"
#include "base/fd.h"
#include "base/http_server.h"

namespace tidemark::cli {

struct Question {
  std::vector<std::string> arguments;
  std::string type;  // of the answer
  // Names the state of what is asked about: the same question about the same
  // state is answered from memory. Empty: asked anew each time.
  std::string state;
};

struct AnswerLimits {
  base::ChildLimits child;
  size_t thread_count = 2;
  size_t waiting_count = 32;       // beyond it 503 is the answer
  size_t kept_bytes = 128U << 20;  // of answers
};

class Answers {
 public:
  Answers(std::string program, const AnswerLimits& limits);
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;
  // Questions that are being answered are given up.
  ~Answers();

  // `tell` is called once, on some thread, or at once from memory.
  using Tell = std::function<void(base::HttpAnswer)>;
  void ask(Question question, Tell tell);

 private:
  struct Waiting {
    Question question;
    std::string key;  // empty: of this one alone
    Tell tell;        // unless others with the same key wait too
  };
  struct Kept {
    std::string key;
    base::HttpAnswer answer;
  };

  void work();
  base::HttpAnswer answer(const Question& question) const;
  // With the guard held.
  void keep(const std::string& key, const base::HttpAnswer& answer);
  std::vector<Tell> take_askers(Waiting& one);

  std::string program_;
  AnswerLimits limits_;
  std::mutex guard_;
  std::condition_variable has_work_;
  std::deque<Waiting> waiting_;
  // Whoever asks what is being sought already waits for that answer.
  std::map<std::string, std::vector<Tell>> askers_;
  std::list<Kept> kept_;  // last used first
  std::map<std::string, std::list<Kept>::iterator> by_key_;
  size_t kept_bytes_ = 0;
  bool is_ending_ = false;
  base::Fd stop_read_;  // ready when the other end is closed
  base::Fd stop_write_;
  std::vector<std::thread> threads_;
};

}  // namespace tidemark::cli
