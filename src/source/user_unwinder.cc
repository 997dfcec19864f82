#include "source/user_unwinder.h"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "parse/smaps.h"
#include "source/code_files.h"
#include "source/perf_map.h"

namespace tidemark::source {
namespace {

// Deeper stacks are taken for loops: 8 KiB hold no more calls.
constexpr size_t kMostUserFrames = 256;
// Names come from files that anybody may have written: demangling takes time
// and room that grow with them, faster than they do.
constexpr size_t kMostMangled = 1024;
constexpr size_t kMostName = 512;

// Where struct pt_regs of x86-64 has the registers, in DWARF's order: rax, rdx,
// rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, and the return address.
constexpr std::array<uint8_t, 17> kRegisterPlaces = {
    10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16};
constexpr size_t kInstructionPointer = 16;
constexpr size_t kStackPointer = 19;
constexpr size_t kCodeSegment = 17;
constexpr uint64_t kCode64 = 0x33;

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

// Every module is reported with its file.
int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
  return -1;
}

constexpr Dwfl_Callbacks kFileCallbacks = {
    find_no_elf, find_debug_file, dwfl_offline_section_address, nullptr};

// Processes that end at once come in hundreds, and unpacking a debug file takes
// tens of milliseconds each time: what the file itself has must do.
int find_no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr,
                       const char*, const char*, GElf_Word, char**) {
  return -1;
}

constexpr Dwfl_Callbacks kBriefCallbacks = {
    find_no_elf, find_no_debug_file, dwfl_offline_section_address, nullptr};

// --- what libdwfl asks for while it unwinds ----------------------------------

// What is being unwound, and how far into it that has led.
struct DumpReading {
  const UserDump* dump = nullptr;
  size_t used_bytes = 0;
};

const UserDump& dump_of(void* argument) {
  return *static_cast<DumpReading*>(argument)->dump;
}

pid_t next_thread(Dwfl*, void* argument, void** thread_argument) {
  if (*thread_argument != nullptr) return 0;
  *thread_argument = argument;
  return dump_of(argument).thread_id;
}

bool get_thread(Dwfl*, pid_t, void* argument, void** thread_argument) {
  *thread_argument = argument;
  return true;
}

bool read_word(Dwfl*, Dwarf_Addr address, Dwarf_Word* result, void* argument) {
  const UserDump& dump = dump_of(argument);
  const uint64_t offset = address - dump.registers[kStackPointer];
  if (offset > dump.stack.size() ||
      dump.stack.size() - offset < sizeof *result) {
    return false;
  }
  std::memcpy(result, dump.stack.data() + offset, sizeof *result);
  size_t& used = static_cast<DumpReading*>(argument)->used_bytes;
  used = std::max(used, offset + sizeof *result);
  return true;
}

bool set_registers(Dwfl_Thread* thread, void* argument) {
  const UserDump& dump = dump_of(argument);
  std::array<Dwarf_Word, kRegisterPlaces.size()> words{};
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = dump.registers[kRegisterPlaces[i]];
  return dwfl_thread_state_registers(thread, 0, words.size(), words.data());
}

constexpr Dwfl_Thread_Callbacks kThreadCallbacks = {
    next_thread, get_thread, read_word, set_registers, nullptr, nullptr};

// Where calls are, not where they return to: that may be another function.
int take_frame(Dwfl_Frame* frame, void* argument) {
  auto& places = *static_cast<std::vector<uint64_t>*>(argument);
  Dwarf_Addr address = 0;
  bool is_activation = false;
  if (!dwfl_frame_pc(frame, &address, &is_activation)) return DWARF_CB_ABORT;
  if (!is_activation) --address;
  places.push_back(address);
  return places.size() < kMostUserFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// --- names -------------------------------------------------------------------

// Without the version that symbols of libraries carry: "read@@GLIBC_2.2.5".
std::string without_version(std::string name) {
  name.resize(std::min(name.size(), name.find('@')));
  return name;
}

// The functions of one module. libdwfl would look at all of them for each
// address, which is a millisecond for a compiler that exports its own.
class FunctionTable {
 public:
  FunctionTable() = default;
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

}  // namespace

struct UserSpace::State {
  State(UserFrames& all_frames, bool for_ended)
      : frames(all_frames), is_brief(for_ended) {}

  // What `open` gives for the code of each file.
  using Opener = std::function<base::Fd(CodeFile&)>;
  void report(int32_t its_pid, const Opener& open);
  void name(uint64_t address, bool is_innermost, std::vector<uint32_t>& named);
  void name_in_module(Dwfl_Module* module, uint64_t address, bool is_innermost,
                      std::vector<uint32_t>& named);
  struct Image {
    std::string name;
    bool has_build_id = false;  // so that another file is never taken for it
  };
  const Image& image_of(Dwfl_Module* module);
  const FunctionTable& functions_of(Dwfl_Module* module);
  bool is_mapped_code(uint64_t address) const;

  UserFrames& frames;
  bool is_brief = false;
  int32_t pid = 0;
  std::vector<model::Mapping> code;  // what can be run, in order
  std::unique_ptr<Dwfl, EndDwfl> dwfl;
  bool is_attached = false;
  DumpReading reading;
  std::unordered_map<uint64_t, std::vector<uint32_t>> named_inner;
  std::unordered_map<uint64_t, std::vector<uint32_t>> named_outer;
  std::unordered_map<Dwfl_Module*, Image> images;
  std::unordered_map<Dwfl_Module*, FunctionTable> functions;
  PerfMap perf_map;
};

void UserSpace::State::report(int32_t its_pid, const Opener& open) {
  pid = its_pid;
  dwfl.reset(dwfl_begin(is_brief ? &kBriefCallbacks : &kFileCallbacks));
  if (!dwfl) return;
  for (CodeFile& file : code_files(code)) {
    base::Fd fd = open(file);
    if (!fd) continue;
    const char* path = file.mapping->name.c_str();
    // It owns the descriptor from here on, unless it fails.
    if (dwfl_report_elf(dwfl.get(), path, path, fd.get(), file.base, false) !=
        nullptr) {
      fd.release();
    }
  }
  dwfl_report_end(dwfl.get(), nullptr, nullptr);
  is_attached =
      dwfl_attach_state(dwfl.get(), nullptr, pid, &kThreadCallbacks, &reading);
}

bool UserSpace::State::is_mapped_code(uint64_t address) const {
  const auto behind =
      std::upper_bound(code.begin(), code.end(), address,
                       [](uint64_t at, const model::Mapping& m) {
                         return at < m.start_address;
                       });
  return behind != code.begin() && address < std::prev(behind)->end_address;
}

const UserSpace::State::Image& UserSpace::State::image_of(Dwfl_Module* module) {
  auto [at, is_new] = images.try_emplace(module);
  if (is_new) {
    const char* path = dwfl_module_info(module, nullptr, nullptr, nullptr,
                                        nullptr, nullptr, nullptr, nullptr);
    const std::string build_id = build_id_of(module);
    at->second = {frames.keep_image(path != nullptr ? path : "", build_id),
                  !build_id.empty()};
  }
  return at->second;
}

const FunctionTable& UserSpace::State::functions_of(Dwfl_Module* module) {
  auto [at, is_new] = functions.try_emplace(module);
  if (is_new) at->second = FunctionTable(module);
  return at->second;
}

void UserSpace::State::name_in_module(Dwfl_Module* module, uint64_t address,
                                      bool is_innermost,
                                      std::vector<uint32_t>& named) {
  GElf_Addr bias = 0;
  dwfl_module_getelf(module, &bias);
  const Image& image = image_of(module);
  const UserFrames::Place place = {image.name, address - bias, is_innermost,
                                   is_brief};
  if (const std::vector<uint32_t>* known =
          image.has_build_id ? frames.names_at(place) : nullptr) {
    named = *known;
    return;
  }
  model::TraceFrame frame;
  frame.module = image.name;
  std::string line = is_innermost ? line_at(module, address) : std::string();
  for (const std::string& name : inlined_at(module, address)) {
    frame.symbol = name + std::exchange(line, {});
    named.push_back(frames.keep(frame));
  }
  frame.address = address - bias;
  frame.symbol = functions_of(module).name_of(address, frame.offset);
  if (!frame.symbol.empty()) frame.symbol += line;
  named.push_back(frames.keep(frame));
  if (image.has_build_id) frames.keep_names(place, named);
}

void UserSpace::State::name(uint64_t address, bool is_innermost,
                            std::vector<uint32_t>& named) {
  Dwfl_Module* module = dwfl_addrmodule(dwfl.get(), address);
  if (module != nullptr) {
    name_in_module(module, address, is_innermost, named);
    return;
  }
  model::TraceFrame frame;
  frame.module = is_mapped_code(address) ? "[jit]" : "[unknown]";
  frame.symbol = perf_map.name_of(address);
  // Code that is made at run time lies elsewhere each time.
  if (frame.symbol.empty()) frame.symbol = "code without a name";
  named.push_back(frames.keep(frame));
}

base::Result<std::unique_ptr<UserSpace>> UserSpace::read(const Roots& roots,
                                                         int32_t pid,
                                                         UserFrames& frames) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, std::to_string(pid) + "/maps");
  if (!text) return text.error();
  base::Result<std::vector<model::Mapping>> mappings = parse::parse_maps(*text);
  if (!mappings) return mappings.error();
  auto state = std::make_unique<State>(frames, false);
  state->code = std::move(*mappings);
  state->report(pid, [&](const CodeFile& file) {
    return open_mapped(roots, pid, *file.mapping);
  });
  std::erase_if(state->code, [](const model::Mapping& mapping) {
    return !mapping.permissions.execute;
  });
  if (!state->is_attached) {
    return base::fail(base::ErrorKind::Gone,
                      "process " + std::to_string(pid) + " has no code");
  }
  state->perf_map = read_perf_map(roots, pid);
  return std::unique_ptr<UserSpace>(new UserSpace(std::move(state)));
}

base::Result<std::unique_ptr<UserSpace>> UserSpace::of_ended(
    const Roots& roots, const EndedSpace& ended, UserFrames& frames) {
  auto state = std::make_unique<State>(frames, true);
  state->code = ended.code;
  state->report(ended.pid, [&](CodeFile& file) {
    base::Fd fd = open_named(roots, ended.root_pid, *file.mapping);
    const std::optional<uint64_t> base =
        fd ? base_of_code(fd.get(), *file.mapping) : std::nullopt;
    if (!base) return base::Fd();
    file.base = *base;
    return fd;
  });
  if (!state->is_attached) {
    return base::fail(base::ErrorKind::Gone,
                      "process " + std::to_string(ended.pid) + " has no code");
  }
  return std::unique_ptr<UserSpace>(new UserSpace(std::move(state)));
}

UserSpace::UserSpace(std::unique_ptr<State> state) : state_(std::move(state)) {}
UserSpace::~UserSpace() = default;

bool UserSpace::has_same_code(const UserSpace& other) const {
  const auto is_same = [](const model::Mapping& a, const model::Mapping& b) {
    return a.start_address == b.start_address &&
           a.end_address == b.end_address && is_same_file(a, b);
  };
  return std::ranges::equal(state_->code, other.state_->code, is_same) &&
         state_->perf_map.size() == other.state_->perf_map.size();
}

UserStack UserSpace::unwind(const UserDump& dump) {
  UserStack stack;
  if (dump.registers[kCodeSegment] != kCode64) return stack;
  std::vector<uint64_t> places;
  state_->reading = {&dump, 0};
  const int ended = dwfl_getthread_frames(state_->dwfl.get(), dump.thread_id,
                                          take_frame, &places);
  stack.used_bytes = state_->reading.used_bytes;
  // Where nothing could be unwound, the place itself is still known.
  if (places.empty()) places.push_back(dump.registers[kInstructionPointer]);
  stack.is_whole = ended == 0;
  for (size_t i = 0; i < places.size(); ++i) {
    auto& cache = i == 0 ? state_->named_inner : state_->named_outer;
    auto [at, is_new] = cache.try_emplace(places[i]);
    if (is_new) state_->name(places[i], i == 0, at->second);
    stack.frames.insert(stack.frames.end(), at->second.begin(),
                        at->second.end());
    stack.has_strangers |= !state_->is_mapped_code(places[i]);
  }
  // The loader's own does not say that nobody called it.
  const std::string& outermost = state_->frames.at(stack.frames.back()).symbol;
  stack.is_whole |= outermost == "_start";
  return stack;
}

}  // namespace tidemark::source
