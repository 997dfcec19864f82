#include "cli/answers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>

namespace tidemark::cli {
namespace {

Question shell(const std::string& words, const std::string& state = "") {
  return {{"-c", words}, "text/plain", state};
}

base::HttpAnswer answer(Answers& answers, Question question) {
  std::promise<base::HttpAnswer> told;
  answers.ask(std::move(question), [&](base::HttpAnswer answer) {
    told.set_value(std::move(answer));
  });
  return told.get_future().get();
}

TEST(Answers, AreWhatTheProgramPrints) {
  Answers answers("/bin/sh", {});
  const base::HttpAnswer told = answer(answers, shell("echo 1; exit 1"));
  EXPECT_EQ(told.status, 200U) << "a part that failed is in what it prints";
  EXPECT_EQ(told.body, "1\n");
  EXPECT_EQ(told.type, "text/plain");
}

TEST(Answers, CarryItsWordsWhenItFails) {
  Answers answers("/bin/sh", {});
  const base::HttpAnswer told =
      answer(answers,
             shell("printf 'tidemark: no <x>\\n  hint: try y\\n' >&2; exit 1"));
  EXPECT_EQ(told.status, 422U);
  EXPECT_NE(told.body.find(R"("error":"no <x>","hint":"try y")"),
            std::string::npos)
      << told.body;
  EXPECT_EQ(answer(answers, shell("exit 1")).status, 422U);
}

TEST(Answers, AreGivenUpWithWhoSeeksThem) {
  const auto began = std::chrono::steady_clock::now();
  {
    Answers answers("/bin/sh", {});
    std::promise<void> begun;
    answers.ask(shell("exec sleep 50"), [](const base::HttpAnswer&) {});
    // The second thread answers while the first one waits.
    answers.ask(shell("echo 1"),
                [&](const base::HttpAnswer&) { begun.set_value(); });
    begun.get_future().get();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(25));
}

TEST(Answers, AreKeptWhileTheStateIsTheSame) {
  Answers answers("/bin/sh", {});
  const std::string first = answer(answers, shell("echo $$", "a")).body;
  EXPECT_EQ(answer(answers, shell("echo $$", "a")).body, first);
  EXPECT_NE(answer(answers, shell("echo $$", "b")).body, first);
  const std::string plain = answer(answers, shell("echo $$")).body;
  EXPECT_NE(answer(answers, shell("echo $$")).body, plain);
}

TEST(Answers, AreSoughtOnceForAllWhoAsk) {
  Answers answers("/bin/sh", {});
  std::promise<std::string> first;
  std::promise<std::string> second;
  const Question question = shell("sleep 0.2; echo $$", "a");
  answers.ask(question, [&](const base::HttpAnswer& answer) {
    first.set_value(answer.body);
  });
  answers.ask(question, [&](const base::HttpAnswer& answer) {
    second.set_value(answer.body);
  });
  EXPECT_EQ(first.get_future().get(), second.get_future().get());
}

TEST(Answers, AreForgottenWhenTheyAreTooMany) {
  AnswerLimits limits;
  limits.kept_bytes = 16;
  Answers answers("/bin/sh", limits);
  const std::string first = answer(answers, shell("echo $$", "a")).body;
  for (const char* state : {"b", "c", "d", "e"})
    answer(answers, shell("echo $$", state));
  EXPECT_NE(answer(answers, shell("echo $$", "a")).body, first);
}

TEST(Answers, SayWhenItTakesTooLongOrTooManyAsk) {
  AnswerLimits limits;
  limits.child.time = std::chrono::milliseconds(3000);
  limits.thread_count = 1;
  limits.waiting_count = 1;
  Answers answers("/bin/sh", limits);
  const std::string mark =
      testing::TempDir() + "asked-" + std::to_string(::getpid());
  std::promise<unsigned> slow;
  std::promise<unsigned> waiting;
  answers.ask(
      shell("touch " + mark + "; exec sleep 60"),
      [&](const base::HttpAnswer& answer) { slow.set_value(answer.status); });
  for (int i = 0; i < 200 && ::access(mark.c_str(), F_OK) != 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  answers.ask(shell("echo"), [&](const base::HttpAnswer& answer) {
    waiting.set_value(answer.status);
  });
  EXPECT_EQ(answer(answers, shell("echo")).status, 503U);
  EXPECT_EQ(slow.get_future().get(), 504U);
  EXPECT_EQ(waiting.get_future().get(), 200U);
  ::unlink(mark.c_str());
}

}  // namespace
}  // namespace tidemark::cli
