#include "base/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/clock.h"
#include "base/fd.h"

namespace tidemark::base {
namespace {

constexpr size_t kMostErrors = 64 << 10;

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// As a shell would start it: no signal blocked or ignored because ours are.
struct SpawnSetting {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

  SpawnSetting(const Pipe& output, const Pipe& errors, bool shows_errors) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                       O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.write.get(),
                                       STDOUT_FILENO);
    if (!shows_errors) {
      ::posix_spawn_file_actions_adddup2(&actions, errors.write.get(),
                                         STDERR_FILENO);
    }
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setflags(&attributes,
                               POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnSetting(const SpawnSetting&) = delete;
  SpawnSetting& operator=(const SpawnSetting&) = delete;
  ~SpawnSetting() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
};

// One look at a pipe that has something; false at its end.
bool take(int fd, std::string& into, size_t most) {
  std::array<char, 65'536> buffer;
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const size_t room = most - std::min(most, into.size());
  into.append(buffer.data(), std::min(room, static_cast<size_t>(count)));
  return count > 0;
}

// Until both are at their end; empty, or why not.
std::string take_all(int output_fd, int errors_fd, const ChildLimits& limits,
                     ChildOutput& into) {
  constexpr int64_t kNsPerMs = 1'000'000;
  const auto end_ns =
      static_cast<int64_t>(monotonic_ns()) + limits.time.count() * kNsPerMs;
  std::array<pollfd, 3> ends = {{{output_fd, POLLIN, 0},
                                 {errors_fd, POLLIN, 0},
                                 {limits.stop_fd, POLLIN, 0}}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const int64_t left_ms =
        (end_ns - static_cast<int64_t>(monotonic_ns())) / kNsPerMs;
    if (left_ms <= 0) return "it took too long";
    if (::poll(ends.data(), ends.size(), static_cast<int>(left_ms)) < 0) {
      continue;
    }
    if (ends[2].revents != 0) return "it was stopped";
    // One byte more than may be: that is how too much is known.
    if (ends[0].revents != 0 &&
        !take(output_fd, into.output, limits.output_bytes + 1)) {
      ends[0].fd = -1;
    }
    if (ends[1].revents != 0 && !take(errors_fd, into.errors, kMostErrors)) {
      ends[1].fd = -1;
    }
    if (into.output.size() > limits.output_bytes) return "it printed too much";
  }
  return "";
}

}  // namespace

Result<ChildOutput> run_child(const std::string& program,
                              const std::vector<std::string>& arguments,
                              const ChildLimits& limits) {
  Result<Pipe> output = make_pipe();
  if (!output) return output.error();
  Result<Pipe> errors = make_pipe();
  if (!errors) return errors.error();
  std::vector<char*> words;
  words.push_back(const_cast<char*>(program.c_str()));  // NOLINT: its type
  for (const std::string& one : arguments)
    words.push_back(const_cast<char*>(one.c_str()));  // NOLINT
  words.push_back(nullptr);
  pid_t pid = 0;
  {
    const SpawnSetting setting(*output, *errors, limits.shows_errors);
    const int failure =
        ::posix_spawn(&pid, program.c_str(), &setting.actions,
                      &setting.attributes, words.data(), environ);
    if (failure != 0) return fail_errno(program, failure);
  }
  output->write = Fd();
  errors->write = Fd();
  ChildOutput result;
  const std::string why =
      take_all(output->read.get(), errors->read.get(), limits, result);
  if (!why.empty()) ::kill(pid, SIGKILL);
  while (::waitpid(pid, &result.wait_status, 0) < 0 && errno == EINTR) {
  }
  if (!why.empty()) return fail(ErrorKind::Gone, why);
  return result;
}

}  // namespace tidemark::base
