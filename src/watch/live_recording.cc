#include "watch/live_recording.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tidemark::watch {
namespace {

// /tmp is often memory, which is what we are here to measure.
base::Result<std::string> make_folder() {
  const char* place = std::getenv("TMPDIR");
  std::string path = (place != nullptr && *place != '\0') ? place : "/var/tmp";
  path += "/tidemark-live-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return base::fail_errno(path, errno);
  return path;
}

[[noreturn]] void become_recorder(const LiveRecordingOptions& options,
                                  const std::string& path, pid_t parent) {
  // Ends with us, and in order: it is asked, not killed.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  // Ctrl-C is meant for whoever serves; the recorder is told by it.
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  std::vector<std::string> words = {options.program, "record"};
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  words.insert(words.end(), {"--quiet", "-o", path});
  std::vector<char*> plain;
  plain.reserve(words.size() + 1);
  for (std::string& word : words)
    plain.push_back(word.data());
  plain.push_back(nullptr);
  ::execv(options.program.c_str(), plain.data());
  ::_exit(127);
}

}  // namespace

base::Result<LiveRecording> LiveRecording::start(
    const LiveRecordingOptions& options) {
  LiveRecording live;
  live.path_ = options.kept_path;
  if (live.path_.empty()) {
    base::Result<std::string> folder = make_folder();
    if (!folder) return folder.error();
    live.folder_ = *folder;
    live.path_ = *folder + "/live.tdm";
    source::GuardedThings things;
    things.folders.push_back(*folder);
    base::Result<source::Guardian> guardian = source::Guardian::start(things);
    if (!guardian) return guardian.error();
    live.guardian_.emplace(std::move(*guardian));
  }
  const pid_t self = ::getpid();
  live.pid_ = ::fork();
  if (live.pid_ < 0) return base::fail_errno("fork", errno);
  if (live.pid_ == 0) become_recorder(options, live.path_, self);
  return live;
}

LiveRecording::LiveRecording(LiveRecording&& other) noexcept
    : path_(std::move(other.path_)),
      folder_(std::exchange(other.folder_, {})),
      guardian_(std::move(other.guardian_)),
      pid_(std::exchange(other.pid_, 0)),
      wait_status_(other.wait_status_) {
  other.guardian_.reset();
}

LiveRecording::~LiveRecording() {
  if (pid_ > 0 && !ending()) {
    ::kill(pid_, SIGTERM);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (folder_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::optional<int> LiveRecording::ending() {
  if (wait_status_ || pid_ <= 0) return wait_status_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) wait_status_ = status;
  return wait_status_;
}

}  // namespace tidemark::watch
