#include "source/elf_names.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::source {
namespace {

// Names come from files that anybody may have written: demangling takes time
// and room that grow with them, faster than they do.
constexpr size_t kMostMangled = 1024;
constexpr size_t kMostName = 512;

struct FreeMemory {
  void operator()(void* at) const {
    std::free(at);  // NOLINT(cppcoreguidelines-owning-memory): C's own
  }
};
struct EndDwfl {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

std::string demangled(const char* name) {
  if (std::strncmp(name, "_Z", 2) != 0 ||
      ::strnlen(name, kMostMangled) == kMostMangled) {
    return {name, ::strnlen(name, kMostName)};
  }
  int status = 0;
  const std::unique_ptr<char, FreeMemory> plain(
      abi::__cxa_demangle(name, nullptr, nullptr, &status));
  const char* text = status == 0 && plain ? plain.get() : name;
  return {text, ::strnlen(text, kMostName)};
}

std::string hexadecimal(const unsigned char* bytes, int count) {
  std::string text;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

std::string build_id_of(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr address = 0;
  const int count = dwfl_module_build_id(module, &bytes, &address);
  return count > 0 ? hexadecimal(bytes, count) : std::string();
}

// Separate debug files, by build-id, where distributions install them.
// libdwfl's own way would also ask servers.
int find_debug_file(Dwfl_Module* module, void**, const char*, Dwarf_Addr,
                    const char*, const char*, GElf_Word, char** found) {
  const std::string id = build_id_of(module);
  if (id.size() < 4) return -1;
  const std::string path = "/usr/lib/debug/.build-id/" + id.substr(0, 2) + "/" +
                           id.substr(2) + ".debug";
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) *found = ::strdup(path.c_str());
  return fd;
}

// The file is given with the module.
int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
  return -1;
}

constexpr Dwfl_Callbacks kCallbacks = {find_no_elf, find_debug_file,
                                       dwfl_offline_section_address, nullptr};

// Without the version that symbols of libraries carry: "read@@GLIBC_2.2.5".
std::string without_version(std::string name) {
  name.resize(std::min(name.size(), name.find('@')));
  return name;
}

// The functions of one module. libdwfl would look at all of them for each
// address, which is a millisecond for a compiler that exports its own.
class FunctionTable {
 public:
  explicit FunctionTable(Dwfl_Module* module);

  // Empty where there is none: names of static ones are missing from stripped
  // files, and a symbol before the address is another function's then.
  std::string name_of(uint64_t address, uint64_t& offset) const;

 private:
  struct Function {
    uint64_t start = 0;
    uint64_t size_bytes = 0;
    int rank = 0;  // of several names of one place the highest is shown
    const char* name = nullptr;
  };
  static int rank_of(const GElf_Sym& symbol, const char* name);
  std::vector<Function> functions_;  // by start
};

int FunctionTable::rank_of(const GElf_Sym& symbol, const char* name) {
  const int binding = GELF_ST_BIND(symbol.st_info);
  const bool is_plain = name[0] != '_';
  return (binding == STB_GLOBAL ? 4
          : binding == STB_WEAK ? 2
                                : 0) +
         (is_plain ? 1 : 0);
}

FunctionTable::FunctionTable(Dwfl_Module* module) {
  const int count = dwfl_module_getsymtab(module);
  for (int i = 1; i < count; ++i) {
    GElf_Sym symbol{};
    GElf_Addr address = 0;
    const char* name = dwfl_module_getsym_info(module, i, &symbol, &address,
                                               nullptr, nullptr, nullptr);
    const int type = GELF_ST_TYPE(symbol.st_info);
    const bool is_code =
        type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
    if (!is_code || name == nullptr || *name == '\0' ||
        symbol.st_shndx == SHN_UNDEF) {
      continue;
    }
    functions_.push_back(
        {address, symbol.st_size, rank_of(symbol, name), name});
  }
  std::ranges::sort(functions_, [](const Function& a, const Function& b) {
    return a.start != b.start ? a.start < b.start : a.rank < b.rank;
  });
}

std::string FunctionTable::name_of(uint64_t address, uint64_t& offset) const {
  // What is written in assembler may say no size.
  constexpr uint64_t kUnsized = 256;
  // Labels inside of functions are passed over, as far as there can be many.
  constexpr int kMostLabels = 64;
  auto at = std::upper_bound(
      functions_.begin(), functions_.end(), address,
      [](uint64_t value, const Function& f) { return value < f.start; });
  const Function* found = nullptr;
  for (int i = 0; i < kMostLabels && at != functions_.begin(); ++i) {
    --at;
    const uint64_t distance = address - at->start;
    if (at->size_bytes > distance) {
      found = &*at;
      break;
    }
    if (!found && at->size_bytes == 0 && distance < kUnsized) found = &*at;
  }
  if (!found) return {};
  offset = address - found->start;
  return without_version(demangled(found->name));
}

std::string name_of_scope(Dwarf_Die* scope) {
  Dwarf_Attribute attribute;
  for (const unsigned which : {static_cast<unsigned>(DW_AT_linkage_name),
                               static_cast<unsigned>(DW_AT_name)}) {
    const char* name =
        dwarf_formstring(dwarf_attr_integrate(scope, which, &attribute));
    if (name != nullptr) return demangled(name);
  }
  return {};
}

// Functions that were inlined at the address, the innermost first.
std::vector<std::string> inlined_at(Dwfl_Module* module, uint64_t address) {
  std::vector<std::string> names;
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_module_addrdie(module, address, &bias);
  if (unit == nullptr) return names;
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes(unit, address - bias, &scopes);
  const std::unique_ptr<Dwarf_Die, FreeMemory> owner(scopes);
  for (int i = 0; i < count; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag == DW_TAG_subprogram) break;
    if (tag == DW_TAG_inlined_subroutine) {
      names.push_back(name_of_scope(&scopes[i]));
    }
  }
  return names;
}

// " file.c:42"; empty without debug information.
std::string line_at(Dwfl_Module* module, uint64_t address) {
  Dwfl_Line* line = dwfl_module_getsrc(module, address);
  if (line == nullptr) return {};
  int number = 0;
  const char* file =
      dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
  if (file == nullptr) return {};
  const std::string_view path(file, ::strnlen(file, kMostName));
  return " " + std::string(path.substr(path.rfind('/') + 1)) + ":" +
         std::to_string(number);
}

class ElfNames : public CodeNames {
 public:
  ElfNames(base::Fd file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  std::string build_id() override;
  std::vector<model::TraceFrame> names_at(uint64_t address,
                                          bool has_line) override;

 private:
  Dwfl_Module* module();  // null where the file cannot be read

  base::Fd file_;  // until it was read
  std::string path_;
  std::unique_ptr<Dwfl, EndDwfl> dwfl_;
  Dwfl_Module* module_ = nullptr;
  std::optional<FunctionTable> functions_;
};

// As if it were loaded where it says, so that its addresses are its own.
Dwfl_Module* ElfNames::module() {
  if (!file_) return module_;
  base::Fd file = std::move(file_);
  dwfl_.reset(dwfl_begin(&kCallbacks));
  if (!dwfl_) return nullptr;
  module_ = dwfl_report_elf(dwfl_.get(), path_.c_str(), path_.c_str(),
                            file.get(), 0, true);
  // It owns the descriptor from here on, unless it fails.
  if (module_ != nullptr) file.release();
  dwfl_report_end(dwfl_.get(), nullptr, nullptr);
  return module_;
}

std::string ElfNames::build_id() {
  return module() != nullptr ? build_id_of(module_) : std::string();
}

std::vector<model::TraceFrame> ElfNames::names_at(uint64_t address,
                                                  bool has_line) {
  std::vector<model::TraceFrame> frames;
  model::TraceFrame function;
  function.address = address;
  if (module() != nullptr) {
    std::string line = has_line ? line_at(module_, address) : std::string();
    for (const std::string& name : inlined_at(module_, address)) {
      model::TraceFrame& inlined = frames.emplace_back();
      inlined.symbol = name + std::exchange(line, {});
    }
    if (!functions_) functions_.emplace(module_);
    function.symbol = functions_->name_of(address, function.offset);
    if (!function.symbol.empty()) function.symbol += line;
  }
  frames.push_back(std::move(function));
  return frames;
}

}  // namespace

std::unique_ptr<CodeNames> elf_names(base::Fd file, std::string path) {
  return std::make_unique<ElfNames>(std::move(file), std::move(path));
}

}  // namespace tidemark::source
