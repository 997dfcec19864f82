// Memory of known sizes by C++ functions, held until standard input ends.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace shop {

template <typename T>
struct Table {
  std::vector<T> rows;
  __attribute__((noinline)) void fill(size_t bytes) {
    rows.assign(bytes / sizeof(T), T{1});
  }
};

struct Names {
  std::vector<std::unique_ptr<std::string>> all;
  __attribute__((noinline)) void grow(size_t count) {
    for (size_t i = 0; i < count; ++i)
      all.push_back(std::make_unique<std::string>(4000, 'x'));
  }
};

}  // namespace shop

int main() {
  shop::Table<double> table;
  shop::Names names;
  table.fill(size_t{64} << 20);
  names.grow(8192);  // of a page each, with what the allocator adds
  std::puts("done");
  std::fflush(stdout);
  std::getchar();
}
