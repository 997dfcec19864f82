// Files captured from real kernels, for tests. See tests/fixtures/README.md.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::test {

// Where a file or folder below tests/fixtures is.
std::string fixture_path(std::string_view relative_path);

// The whole contents of a file there. A missing fixture is a broken checkout
// and not a finding about the code, so the program ends.
std::string read_fixture(std::string_view relative_path);

}  // namespace tidemark::test
