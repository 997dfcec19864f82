// The only file that is told where this checkout is: compilers' caches can
// serve the others to any.
#include "unit/fixture.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace tidemark::test {

std::string fixture_path(std::string_view relative_path) {
  return std::string(TIDEMARK_FIXTURES) + "/" + std::string(relative_path);
}

std::string read_fixture(std::string_view relative_path) {
  const std::string path = fixture_path(relative_path);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "no fixture at %s\n", path.c_str());
    std::abort();
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tidemark::test
