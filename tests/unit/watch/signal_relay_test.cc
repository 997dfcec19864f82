#include "watch/signal_relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "unit/child.h"

namespace tidemark::watch {
namespace {

using test::Child;
using test::Line;

bool is_blocked(int signal) {
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

bool is_readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, test::kPatienceMs) == 1;
}

sigset_t all_signals() {
  sigset_t all;
  sigfillset(&all);
  return all;
}

// Says the letter of every signal it gets: 'A' for 1, and so on. Of several at
// once the lowest number comes first.
int tell_signals(const Line& line) {
  const sigset_t all = all_signals();
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  line.say('!');
  while (true) {
    const int number = ::sigwaitinfo(&all, nullptr);
    if (number == SIGUSR1) ::kill(::getppid(), SIGUSR2);
    line.say(static_cast<char>('@' + number));
  }
}

char letter(int number) {
  return static_cast<char>('@' + number);
}

// Comes after all the others that a test sends.
constexpr int kLast = SIGCHLD;

TEST(SignalRelay, HandsOnWhatSomebodySentUs) {
  Child command(tell_signals);
  ASSERT_EQ(command.hear(), '!');
  base::Result<SignalRelay> relay = SignalRelay::block();
  ASSERT_TRUE(relay) << relay.error().what;
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2, SIGALRM}) {
    ::kill(::getpid(), number);
    relay->relay_to(command.pid());
    EXPECT_EQ(command.hear(), letter(number)) << number;
  }
}

TEST(SignalRelay, HandsOnSeveralAtOnce) {
  Child command(tell_signals);
  ASSERT_EQ(command.hear(), '!');
  base::Result<SignalRelay> relay = SignalRelay::block();
  ASSERT_TRUE(relay) << relay.error().what;
  ::kill(::getpid(), SIGTERM);
  ::kill(::getpid(), SIGHUP);
  relay->relay_to(command.pid());
  const std::string heard = {command.hear(), command.hear()};
  EXPECT_TRUE(heard == std::string({letter(SIGHUP), letter(SIGTERM)}) ||
              heard == std::string({letter(SIGTERM), letter(SIGHUP)}))
      << heard;
}

TEST(SignalRelay, DoesNotReturnToTheCommandWhatItSentItself) {
  base::Result<SignalRelay> relay = SignalRelay::block();
  ASSERT_TRUE(relay) << relay.error().what;
  Child command(tell_signals);
  ASSERT_EQ(command.hear(), '!');
  ::kill(command.pid(), SIGUSR1);
  ASSERT_EQ(command.hear(), letter(SIGUSR1)) << "and it has sent us SIGUSR2";
  ASSERT_TRUE(is_readable(relay->fd()));
  relay->relay_to(command.pid());
  ::kill(command.pid(), kLast);
  EXPECT_EQ(command.hear(), letter(kLast));
}

TEST(SignalRelay, DoesNotHandOnWhatTheKernelSent) {
  base::Result<SignalRelay> relay = SignalRelay::block();
  ASSERT_TRUE(relay) << relay.error().what;
  Child command(tell_signals);
  ASSERT_EQ(command.hear(), '!');
  const itimerval soon{{0, 0}, {0, 1000}};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &soon, nullptr), 0);
  ASSERT_TRUE(is_readable(relay->fd()));
  relay->relay_to(command.pid());
  ::kill(command.pid(), kLast);
  EXPECT_EQ(command.hear(), letter(kLast));
}

TEST(SignalRelay, SurvivesACommandThatHasGone) {
  base::Result<SignalRelay> relay = SignalRelay::block();
  ASSERT_TRUE(relay) << relay.error().what;
  Child command([](const Line&) { return 0; });
  command.wait();
  ::kill(::getpid(), SIGTERM);
  relay->relay_to(command.pid());
  EXPECT_FALSE(::kill(command.pid(), 0) == 0);
}

// ---- a terminal -------------------------------------------------------------

// A tool with a command on a terminal of their own. The command says what it
// gets; once it has got the terminal's signal the tool relays its own.
int run_on_terminal(const Line& line, const char* terminal) {
  ::setsid();
  // The first terminal a session leader opens becomes its own.
  const base::Fd slave(::open(terminal, O_RDWR));
  base::Result<SignalRelay> relay = SignalRelay::block();
  if (!slave || !relay) return 1;
  Child command(tell_signals);
  if (command.hear() != '!') return 2;
  line.say('!');
  if (command.hear() != letter(SIGINT)) return 3;
  if (!is_readable(relay->fd())) return 4;
  relay->relay_to(command.pid());
  ::kill(command.pid(), kLast);
  line.say(command.hear());
  return 0;
}

TEST(SignalRelay, CtrlCReachesTheCommandOnce) {
  const base::Fd master(::posix_openpt(O_RDWR | O_NOCTTY));
  if (!master || ::grantpt(master.get()) != 0 ||
      ::unlockpt(master.get()) != 0) {
    GTEST_SKIP() << "no pseudo-terminal can be had here";
  }
  const std::string name = ::ptsname(master.get());
  Child tool(
      [&](const Line& line) { return run_on_terminal(line, name.c_str()); });
  ASSERT_EQ(tool.hear(), '!');
  const char ctrl_c = 3;
  ASSERT_EQ(::write(master.get(), &ctrl_c, 1), 1);
  EXPECT_EQ(tool.hear(), letter(kLast))
      << "a second SIGINT would have come before it";
}

// ---- the mask ---------------------------------------------------------------

TEST(SignalRelay, BlocksWhileItLivesAndRestoresTheMask) {
  ASSERT_FALSE(is_blocked(SIGTERM));
  {
    base::Result<SignalRelay> relay = SignalRelay::block();
    ASSERT_TRUE(relay) << relay.error().what;
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                       SIGALRM, SIGWINCH}) {
      EXPECT_TRUE(is_blocked(number)) << number;
    }
  }
  EXPECT_FALSE(is_blocked(SIGTERM));
}

TEST(SignalRelay, LeavesTheSignalsOfJobControlAlone) {
  base::Result<SignalRelay> relay = SignalRelay::block();
  ASSERT_TRUE(relay) << relay.error().what;
  for (int number : {SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU, SIGCHLD}) {
    EXPECT_FALSE(is_blocked(number)) << number;
  }
}

TEST(SignalRelay, TheCommandStartsWithTheMaskWeWereStartedWith) {
  sigset_t quit;
  sigset_t before;
  sigemptyset(&quit);
  sigaddset(&quit, SIGQUIT);
  ASSERT_EQ(::sigprocmask(SIG_BLOCK, &quit, &before), 0);
  {
    base::Result<SignalRelay> relay = SignalRelay::block();
    ASSERT_TRUE(relay) << relay.error().what;
    EXPECT_EQ(sigismember(&relay->inherited_mask(), SIGQUIT), 1);
    EXPECT_EQ(sigismember(&relay->inherited_mask(), SIGTERM), 0);
  }
  EXPECT_TRUE(is_blocked(SIGQUIT));
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

TEST(SignalRelay, RestoresTheMaskOnceWhenMoved) {
  {
    base::Result<SignalRelay> relay = SignalRelay::block();
    ASSERT_TRUE(relay) << relay.error().what;
    {
      const SignalRelay moved = std::move(*relay);
      EXPECT_TRUE(is_blocked(SIGTERM)) << "the end of the empty one is no end";
    }
    EXPECT_FALSE(is_blocked(SIGTERM));
  }
  EXPECT_FALSE(is_blocked(SIGTERM));
}

}  // namespace
}  // namespace tidemark::watch
