// A unix socket that says what a test wants it to.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "base/result.h"
#include "base/unix_socket.h"

namespace tidemark::test {

inline constexpr uint64_t kMs = 1'000'000;
inline constexpr uint64_t kLongNs = 5000 * kMs;

enum class Manners { Stays, HangsUp, ListensAndHangsUp };

// A socket in a folder of its own, which says `greeting` to the first client.
// Who hangs up on what was not read resets the connection, so one that is to be
// asked listens first.
class Listener {
 public:
  Listener(int type, std::string greeting, Manners manners) {
    std::string name = testing::TempDir() + "tidemark_socket_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fd_ = base::Fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (folder_ + "/s").c_str(),
                 sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address),
                     sizeof address),
              0);
    EXPECT_EQ(::listen(fd_.get(), 1), 0);
    thread_ = std::thread([this, greeting = std::move(greeting), manners] {
      base::Fd link(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      std::array<char, 4096> request{};
      if (manners == Manners::ListensAndHangsUp) {
        (void)!::read(link.get(), request.data(), request.size());
      }
      ::send(link.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL);
      if (manners == Manners::Stays) link_ = std::move(link);
    });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    ::shutdown(fd_.get(), SHUT_RDWR);
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  base::Result<base::UnixSocket> connect(base::SocketType type,
                                         const std::string& path = "s") const {
    base::Result<base::Directory> folder = base::open_directory(folder_);
    EXPECT_TRUE(folder) << folder.error().what;
    return base::UnixSocket::connect_at(*folder, path, type);
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  base::Fd fd_;
  base::Fd link_;
  std::thread thread_;
};

}  // namespace tidemark::test
