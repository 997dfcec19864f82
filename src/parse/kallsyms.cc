#include "parse/kallsyms.h"

#include <optional>

#include "base/text.h"

namespace tidemark::parse {
namespace {

// "name\t[module]"
void fill_names(std::string_view rest, KernelSymbolLine& symbol) {
  symbol.name = base::take_until(rest, '\t');
  symbol.module = {};
  rest = base::trim(rest);
  if (rest.size() > 2 && rest.front() == '[' && rest.back() == ']') {
    symbol.module = rest.substr(1, rest.size() - 2);
  }
  // "folio_add.isra.0" is folio_add to whoever reads it.
  const size_t dot = symbol.name.find('.', 1);
  if (dot != std::string_view::npos) symbol.name = symbol.name.substr(0, dot);
}

}  // namespace

bool take_kernel_symbol(std::string_view& rest, KernelSymbolLine& symbol) {
  while (!rest.empty()) {
    std::string_view line = base::take_line(rest);
    const std::optional<uint64_t> address =
        base::parse_hex(base::take_until(line, ' '));
    const std::string_view type = base::take_until(line, ' ');
    if (!address || type.size() != 1 || line.empty()) continue;
    symbol.address = *address;
    symbol.type = type.front();
    fill_names(line, symbol);
    return true;
  }
  return false;
}

}  // namespace tidemark::parse
