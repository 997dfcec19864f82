#include "cli/token_file.h"

#include "base/file.h"
#include "base/text.h"

namespace tidemark::cli {

base::Result<std::string> read_token(const std::string& path) {
  base::Result<base::Directory> here = base::open_directory(".");
  if (!here) return here.error();
  base::Result<std::string> text = base::read_file_at(*here, path);
  if (!text) return text.error();
  const std::string token(base::trim(*text));
  constexpr size_t kLeastToken = 16;
  if (token.size() < kLeastToken ||
      token.find_first_of(" \t\r\n;\"&") != std::string::npos) {
    return base::fail(base::ErrorKind::Misused,
                      path + ": no token of 16 letters or more",
                      "openssl rand -hex 20 > FILE");
  }
  return token;
}

}  // namespace tidemark::cli
