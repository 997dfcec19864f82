// What the tests of commands share: a command run as main runs it, its output
// caught, the environment put back afterwards.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "cli/command.h"
#include "unit/fixture.h"

namespace tidemark::cli {

inline std::string fixture(std::string_view path) {
  return test::fixture_path(path);
}

// An environment variable for the length of a scope; null unsets it.
class Variable {
 public:
  Variable(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* before = std::getenv(name_.c_str())) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) {
    if (value) {
      ::setenv(name_.c_str(), value, 1);
    } else {
      ::unsetenv(name_.c_str());
    }
  }
  std::string name_;
  std::optional<std::string> before_;
};

// Descriptor `fd` is the other one for the length of a scope.
class Redirect {
 public:
  Redirect(int fd, int target) : fd_(fd), before_(::dup(fd)) {
    std::fflush(nullptr);
    ::dup2(target, fd_);
  }
  Redirect(const Redirect&) = delete;
  Redirect& operator=(const Redirect&) = delete;
  ~Redirect() {
    std::fflush(nullptr);
    ::dup2(before_.get(), fd_);
  }

 private:
  int fd_;
  base::Fd before_;
};

// An empty folder, gone with its contents at the end of the scope.
class TempFolder {
 public:
  TempFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tidemark-cli-XXXXXX")
            .string();
    if (::mkdtemp(name.data())) path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What `action` writes to standard output (1) or error (2).
template <typename Action>
std::string written_to(int fd, const Action& action) {
  const TempFolder folder;
  const std::string path = folder.file("written");
  {
    const base::Fd file(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
    const Redirect redirect(fd, file.get());
    action();
  }
  return contents(path);
}

// A pseudo-terminal: `fd` is what a program writes to.
class Terminal {
 public:
  Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0) return;
    slave_ = base::Fd(::open(::ptsname(master_.get()), O_RDWR | O_NOCTTY));
  }
  int fd() const { return slave_.get(); }
  // What has been written to it so far.
  std::string shown() const {
    std::string text;
    char buffer[1024];
    pollfd ready{master_.get(), POLLIN, 0};
    while (::poll(&ready, 1, 0) > 0) {
      const ssize_t count = ::read(master_.get(), buffer, sizeof buffer);
      if (count <= 0) break;
      text.append(buffer, static_cast<size_t>(count));
    }
    return text;
  }

 private:
  base::Fd master_;
  base::Fd slave_;
};

inline Command command_named(std::string_view name) {
  for (const CommandEntry& entry : command_table()) {
    if (entry.name == name) return entry.make();
  }
  ADD_FAILURE() << "no command " << name;
  return {};
}

// Parses and runs, as main does.
inline base::Result<ExitCode> run(std::string_view name,
                                  const std::vector<std::string>& arguments) {
  const Command command = command_named(name);
  base::Status status = parse_options(command.options, arguments);
  if (!status) return status.error();
  return command.run();
}

// Standard output of a run that must succeed.
inline std::string output_of(std::string_view name,
                             const std::vector<std::string>& arguments) {
  return written_to(STDOUT_FILENO, [&] {
    const base::Result<ExitCode> result = run(name, arguments);
    EXPECT_TRUE(result) << result.error().what;
  });
}

// What a run that must succeed writes with -o, and standard output then gets
// nothing.
inline std::string file_output_of(std::string_view name,
                                  std::vector<std::string> arguments) {
  const TempFolder folder;
  const std::string path = folder.file("out");
  arguments.insert(arguments.end(), {"-o", path});
  EXPECT_EQ(output_of(name, arguments), "");
  return contents(path);
}

inline bool contains(const std::vector<std::string>& list,
                     const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

inline std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const Option& option : command.options.all()) {
    if (option.is_positional) continue;
    for (std::string& name : option.name_list()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace tidemark::cli
