#include "source/kernel_symbols.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace tidemark::source {
namespace {

using parse::KernelSymbolLine;

constexpr std::string_view kFile = "kallsyms";
// Farther behind a name lies something that has none.
constexpr uint64_t kLongestFunction = uint64_t{1} << 20;

bool is_code(char type) {
  return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

// Each symbol of an open file in its order, with its line's place behind where
// the reading began.
using VisitPlaced = std::function<void(const KernelSymbolLine&, size_t)>;
base::Status read_symbols(const base::Fd& file, const Roots& roots,
                          const VisitPlaced& visit) {
  constexpr size_t kBlock = 65536;
  std::string block(kBlock, '\0');
  size_t kept = 0;  // the beginning of a line
  size_t passed = 0;
  while (true) {
    const ssize_t got =
        ::read(file.get(), block.data() + kept, block.size() - kept);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return base::fail_errno(roots.proc.join(kFile), errno);
    }
    const std::string_view all(block.data(), kept + static_cast<size_t>(got));
    const size_t end =
        got == 0 ? all.size() : all.rfind('\n') + 1;  // 0 without a newline
    std::string_view lines = all.substr(0, end);
    KernelSymbolLine symbol;
    size_t left = lines.size();
    while (parse::take_kernel_symbol(lines, symbol)) {
      visit(symbol, passed + end - left);
      left = lines.size();
    }
    if (got == 0) return base::Ok{};
    passed += end;
    kept = all.size() - end;
    std::copy_n(all.data() + end, kept, block.data());
    if (kept == block.size()) kept = 0;  // no line is that long
  }
}

base::Result<base::Fd> open_symbols(const Roots& roots) {
  return base::open_file_at(roots.proc, std::string(kFile));
}

base::Status for_each_symbol(
    const Roots& roots,
    const std::function<void(const KernelSymbolLine&)>& visit) {
  base::Result<base::Fd> file = open_symbols(roots);
  if (!file) return file.error();
  return read_symbols(
      *file, roots,
      [&](const KernelSymbolLine& symbol, size_t) { visit(symbol); });
}

base::Error hidden(const Roots& roots) {
  return base::fail(base::ErrorKind::Denied,
                    roots.proc.join(kFile) + ": addresses read as 0",
                    "it needs CAP_SYSLOG and kernel.kptr_restrict below 2");
}

}  // namespace

base::Result<std::vector<model::TraceFrame>> name_addresses(
    const Roots& roots, const std::vector<uint64_t>& addresses) {
  // Addresses to return to: that of the call itself lies before them, and a
  // call that never returns may be the last thing in a function.
  const auto call_at = [&](size_t i) {
    return addresses[i] - (addresses[i] == 0 ? 0 : 1);
  };
  std::vector<size_t> order(addresses.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, call_at);
  // The nearest symbol at or below each address, in ascending order of them.
  std::vector<model::TraceFrame> nearest(addresses.size());
  bool all_zero = true;
  base::Status status =
      for_each_symbol(roots, [&](const KernelSymbolLine& symbol) {
        if (symbol.address != 0) all_zero = false;
        if (!is_code(symbol.type)) return;
        auto at = std::ranges::lower_bound(order, symbol.address, {}, call_at);
        if (at == order.end()) return;
        model::TraceFrame& frame =
            nearest[static_cast<size_t>(at - order.begin())];
        // Of several at one address the first is the function's own name.
        if (!frame.symbol.empty() && frame.address >= symbol.address) return;
        frame.address = symbol.address;
        frame.symbol = symbol.name;
        frame.module = symbol.module;
      });
  if (!status) return status.error();
  if (all_zero) return hidden(roots);
  std::vector<model::TraceFrame> named(addresses.size());
  const model::TraceFrame* last = nullptr;
  for (size_t i = 0; i < order.size(); ++i) {
    if (!nearest[i].symbol.empty()) last = &nearest[i];
    const uint64_t address = addresses[order[i]];
    model::TraceFrame& frame = named[order[i]];
    if (last != nullptr && address - last->address < kLongestFunction) {
      frame = *last;
      frame.offset = address - last->address;
    }
    frame.address = address;
  }
  return named;
}

base::Result<std::vector<CodeRange>> find_code(
    const Roots& roots, const std::vector<std::string_view>& names) {
  std::vector<CodeRange> ranges;
  bool is_open = false;  // the last one waits for the next symbol
  bool all_zero = true;
  base::Status status =
      for_each_symbol(roots, [&](const KernelSymbolLine& symbol) {
        if (symbol.address != 0) all_zero = false;
        if (!is_code(symbol.type)) return;
        if (is_open && symbol.address > ranges.back().first) {
          ranges.back().last = symbol.address;
          is_open = false;
        }
        if (std::ranges::find(names, symbol.name) == names.end()) return;
        ranges.push_back({std::string(symbol.name), symbol.address,
                          std::numeric_limits<uint64_t>::max()});
        is_open = true;
      });
  if (!status) return status.error();
  if (all_zero) return hidden(roots);
  return ranges;
}

base::Status ModuleFunctions::find_place() {
  base::Result<base::Fd> file = open_symbols(roots_);
  if (!file) return file.error();
  bool is_past = false;
  bool all_zero = true;
  base::Status status = read_symbols(
      *file, roots_, [&](const KernelSymbolLine& symbol, size_t place) {
        if (symbol.address != 0) all_zero = false;
        is_past |= !symbol.module.empty();
        if (!is_past) place_ = place;
      });
  if (status && all_zero) return hidden(roots_);
  return status;
}

base::Status ModuleFunctions::open() {
  if (place_ == 0) {
    base::Status status = find_place();
    if (!status) return status;
  }
  base::Result<base::Fd> file = open_symbols(roots_);
  if (!file) return file.error();
  std::string passed(65536, '\0');
  for (size_t left = place_; left > 0;) {
    // Never more than is left: the kernel stops at the line that fills it.
    const ssize_t got =
        ::read(file->get(), passed.data(), std::min(left, passed.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(roots_.proc.join(kFile), errno);
    if (got == 0) break;
    left -= static_cast<size_t>(got);
  }
  file_ = std::move(*file);
  return base::Ok{};
}

base::Status ModuleFunctions::read(const Visit& visit) {
  if (!file_) return base::fail(base::ErrorKind::System, "read once already");
  const base::Fd file = std::exchange(file_, base::Fd());
  return read_symbols(
      file, roots_, [&](const KernelSymbolLine& symbol, size_t) {
        // "__builtin__kprobes" and the like are no modules.
        if (symbol.module.empty() || symbol.module == "bpf" ||
            symbol.module.starts_with("__builtin__") || !is_code(symbol.type)) {
          return;
        }
        visit(symbol);
      });
}

}  // namespace tidemark::source
