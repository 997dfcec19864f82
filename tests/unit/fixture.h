// Files captured from real kernels, for tests. See tests/fixtures/README.md.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace tidemark::test {

// The whole contents of a file below tests/fixtures. A missing fixture is a
// broken checkout and not a finding about the code, so the program ends.
inline std::string read_fixture(std::string_view relative_path) {
  const std::string path =
      std::string(TIDEMARK_FIXTURES) + "/" + std::string(relative_path);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "no fixture at %s\n", path.c_str());
    std::abort();
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace tidemark::test
