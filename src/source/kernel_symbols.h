// Names for addresses of the kernel's code, and addresses for names, from
// /proc/kallsyms. The file is read in blocks and only what was asked for is
// kept: its hundred thousand names would cost more than everything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "model/trace.h"
#include "parse/kallsyms.h"
#include "source/roots.h"

namespace tidemark::source {

// For each address its name, in the order given. Unknown where nothing is
// known; Denied when all addresses of the file read as zero.
base::Result<std::vector<model::TraceFrame>> name_addresses(
    const Roots& roots, const std::vector<uint64_t>& addresses);

// Where the code of one name lies: [first, last).
struct CodeRange {
  std::string name;
  uint64_t first = 0;
  uint64_t last = 0;
  bool operator==(const CodeRange&) const = default;
};

// Of each name as many as there are; static functions may share one.
base::Result<std::vector<CodeRange>> find_code(
    const Roots& roots, const std::vector<std::string_view>& names);

// Functions of modules, which stand behind some hundred thousand names of the
// kernel's own. The file is kept open at that place: what a module that is just
// being loaded calls its functions is known for a millisecond or two, and
// passing over the others takes 50.
class ModuleFunctions {
 public:
  using Visit = std::function<void(const parse::KernelSymbolLine&)>;

  // The roots must outlive it.
  explicit ModuleFunctions(const Roots& roots) : roots_(roots) {}

  // Makes ready for the next reading.
  base::Status open();
  // All that are there now, once for each `open`.
  base::Status read(const Visit& visit);

 private:
  base::Status find_place();

  const Roots& roots_;
  base::Fd file_;
  // Where the last of the kernel's own lines begins. Not behind it: a file that
  // has come to its end once tells of no module that comes then.
  size_t place_ = 0;
};

}  // namespace tidemark::source
