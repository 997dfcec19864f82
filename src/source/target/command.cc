#include "source/target/command.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/escape.h"

namespace tidemark::source {
namespace {

struct Pipe {
  base::Fd read_end;
  base::Fd write_end;
};

base::Result<Pipe> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::fail_errno("pipe", errno);
  return Pipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

// Where memstat sends the command's output, with its mode and truncation.
base::Result<base::Fd> open_target(const std::string& path) {
  if (path.empty()) return base::Fd();
  base::Fd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd) return base::fail_errno("cannot write " + path, errno);
  return fd;
}

struct ChildPlan {
  std::vector<char*> arguments;
  int gate = -1;
  int report = -1;
  int output = -1;
  int error = -1;
  sigset_t mask{};
  bool output_to_error = false;
  bool ignores_broken_pipe = false;
};

// Only calls that are safe after fork.
[[noreturn]] void become_command(const ChildPlan& plan) {
  char go = 0;
  ssize_t got = 0;
  do {
    got = ::read(plan.gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(0);
  if (plan.output >= 0) ::dup2(plan.output, STDOUT_FILENO);
  if (plan.error >= 0) ::dup2(plan.error, STDERR_FILENO);
  if (plan.output_to_error) ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::signal(SIGPIPE, plan.ignores_broken_pipe ? SIG_IGN : SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &plan.mask, nullptr);
  ::execvp(plan.arguments[0], plan.arguments.data());
  const int err = errno;
  static_cast<void>(::write(plan.report, &err, sizeof err) == 0);
  ::_exit(127);
}

base::Error exec_error(const std::string& name, int err) {
  base::Error error =
      base::fail_errno("cannot run '" + base::visible(name) + "'", err);
  // A name that is a directory, a bad format: found, and yet no program.
  const bool is_found = err != ENOENT && err != ENOTDIR;
  const bool is_denied = err == EACCES || err == EPERM || err == ENOEXEC ||
                         err == EISDIR || err == ETXTBSY || err == ELOOP;
  if (!is_found) return error;
  return base::fail(
      is_denied ? base::ErrorKind::Denied : base::ErrorKind::System,
      error.what);
}

}  // namespace

base::Result<Command> Command::prepare(const CommandSpec& spec) {
  base::Result<Pipe> gate = make_pipe();
  if (!gate) return gate.error();
  base::Result<Pipe> report = make_pipe();
  if (!report) return report.error();
  base::Result<base::Fd> output = open_target(spec.output_path);
  if (!output) return output.error();
  base::Result<base::Fd> error = open_target(spec.error_path);
  if (!error) return error.error();

  // execvp wants pointers to text it promises not to change.
  std::vector<std::string> words = spec.arguments;
  ChildPlan plan;
  for (std::string& word : words)
    plan.arguments.push_back(word.data());
  plan.arguments.push_back(nullptr);
  plan.gate = gate->read_end.get();
  plan.report = report->write_end.get();
  plan.output = output->get();
  plan.error = error->get();
  plan.mask = spec.signal_mask;
  plan.output_to_error = spec.output_to_error;
  plan.ignores_broken_pipe = spec.ignores_broken_pipe;

  Command command;
  command.name_ = spec.arguments[0];
  const pid_t pid = ::fork();
  if (pid < 0) return base::fail_errno("cannot fork", errno);
  if (pid == 0) {
    // Its own copy would keep the gate open when we die.
    ::close(gate->write_end.get());
    become_command(plan);
  }
  command.pid_ = pid;
  command.gate_ = std::move(gate->write_end);
  command.report_ = std::move(report->read_end);
  command.pidfd_ =
      base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!command.pidfd_) return base::fail_errno("pidfd_open", errno);
  return command;
}

Command::Command(Command&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      pidfd_(std::move(other.pidfd_)),
      gate_(std::move(other.gate_)),
      report_(std::move(other.report_)),
      name_(std::move(other.name_)),
      is_released_(other.is_released_),
      is_reaped_(other.is_reaped_) {}

Command::~Command() {
  if (pid_ == 0 || is_released_ || is_reaped_) return;
  gate_ = base::Fd();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

base::Status Command::release() {
  const char go = 'g';
  if (::write(gate_.get(), &go, 1) != 1) {
    return base::fail_errno("cannot start the command", errno);
  }
  is_released_ = true;
  gate_ = base::Fd();
  int err = 0;
  ssize_t got = 0;
  do {
    got = ::read(report_.get(), &err, sizeof err);
  } while (got < 0 && errno == EINTR);
  report_ = base::Fd();
  if (got != sizeof err) return base::Ok{};
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  is_reaped_ = true;
  return exec_error(name_, err);
}

std::optional<Ending> Command::ending() {
  if (is_reaped_) return std::nullopt;
  int status = 0;
  rusage usage{};
  if (::wait4(pid_, &status, WNOHANG, &usage) != pid_) return std::nullopt;
  is_reaped_ = true;
  constexpr uint64_t kKiB = 1024;
  return Ending{status, static_cast<uint64_t>(usage.ru_maxrss) * kKiB};
}

}  // namespace tidemark::source
