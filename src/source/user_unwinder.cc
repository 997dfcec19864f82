#include "source/user_unwinder.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/fd.h"
#include "base/file.h"
#include "parse/smaps.h"
#include "source/code_files.h"
#include "source/elf_names.h"
#include "source/perf_map.h"

namespace tidemark::source {
namespace {

// Deeper stacks are taken for loops: 8 KiB hold no more calls.
constexpr size_t kMostUserFrames = 256;
// Where struct pt_regs of x86-64 has the registers, in DWARF's order: rax, rdx,
// rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, and the return address.
constexpr std::array<uint8_t, 17> kRegisterPlaces = {
    10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16};
constexpr size_t kInstructionPointer = 16;
constexpr size_t kStackPointer = 19;
constexpr size_t kCodeSegment = 17;
constexpr uint64_t kCode64 = 0x33;

struct EndDwfl {
  void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
};

// Every module is reported with its file.
int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) {
  return -1;
}

// What compilers leave for exceptions is in the file itself. Looking for more
// would mean unpacking debug information while the program runs.
int find_no_debug_file(Dwfl_Module*, void**, const char*, Dwarf_Addr,
                       const char*, const char*, GElf_Word, char**) {
  return -1;
}

constexpr Dwfl_Callbacks kCallbacks = {find_no_elf, find_no_debug_file,
                                       dwfl_offline_section_address, nullptr};

// --- what libdwfl asks for while it unwinds ----------------------------------

// What is being unwound, and how far into it that has led.
struct DumpReading {
  const UserDump* dump = nullptr;
  size_t used_bytes = 0;
  bool is_short = false;  // something was asked for that it does not have
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
  auto& reading = *static_cast<DumpReading*>(argument);
  const UserDump& dump = *reading.dump;
  const uint64_t offset = address - dump.registers[kStackPointer];
  if (offset > dump.stack.size() ||
      dump.stack.size() - offset < sizeof *result) {
    reading.is_short = true;
    return false;
  }
  std::memcpy(result, dump.stack.data() + offset, sizeof *result);
  reading.used_bytes = std::max(reading.used_bytes, offset + sizeof *result);
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

bool can_be_run(const model::Mapping& mapping) {
  return mapping.permissions.execute;
}

// Nobody calls what a program or its loader begins with, but the loader's own
// does not say so; it is short, and what lies behind it calls nobody.
constexpr uint64_t kEntryBytes = 64;

std::optional<FileIdentity> identity_of(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return std::nullopt;
  return FileIdentity{
      info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size),
      info.st_ctim.tv_sec * 1'000'000'000 + info.st_ctim.tv_nsec};
}

}  // namespace

struct UserSpace::State {
  explicit State(UserFrames& all_frames) : frames(all_frames) {}

  // What `open` gives for the code of each file.
  using Opener = std::function<base::Fd(CodeFile&)>;
  void report(int32_t its_pid, const std::vector<model::Mapping>& mappings,
              const Opener& open);
  void report_file(const CodeFile& file, base::Fd fd);
  uint32_t frame_at(uint64_t address, bool is_innermost);
  bool is_entry(uint64_t address) const;
  bool is_mapped_code(uint64_t address) const;
  bool is_same_code(const State& read) const;

  struct Module {
    uint32_t file = 0;  // of `frames`
    uint64_t bias = 0;
    uint64_t entry = 0;  // an address in the file
  };

  UserFrames& frames;
  int32_t pid = 0;
  std::vector<model::Mapping> code;  // what can be run, in order
  std::unique_ptr<Dwfl, EndDwfl> dwfl;
  bool is_attached = false;
  DumpReading reading;
  std::unordered_map<Dwfl_Module*, Module> modules;
  std::unordered_map<uint64_t, uint32_t> inner_frames;  // by address
  std::unordered_map<uint64_t, uint32_t> outer_frames;
  PerfMap perf_map;
};

// The name of its code is looked for later, when the process may be gone and
// another file be at its path: so it is kept open.
void UserSpace::State::report_file(const CodeFile& file, base::Fd fd) {
  const std::optional<FileIdentity> identity = identity_of(fd.get());
  if (!identity) return;
  const std::string& path = file.mapping->name;
  std::optional<uint32_t> known = frames.find_file(*identity);
  if (!known) {
    base::Fd kept(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
    known = frames.keep_file(*identity, path, elf_names(std::move(kept), path));
  }
  Dwfl_Module* module = dwfl_report_elf(dwfl.get(), path.c_str(), path.c_str(),
                                        fd.get(), file.base, false);
  if (module == nullptr) return;
  // It owns the descriptor from here on.
  fd.release();
  Module& its = modules[module];
  its.file = *known;
  GElf_Ehdr header{};
  Elf* elf = dwfl_module_getelf(module, &its.bias);
  if (elf != nullptr && gelf_getehdr(elf, &header) != nullptr) {
    its.entry = header.e_entry;
  }
}

void UserSpace::State::report(int32_t its_pid,
                              const std::vector<model::Mapping>& mappings,
                              const Opener& open) {
  pid = its_pid;
  dwfl.reset(dwfl_begin(&kCallbacks));
  if (!dwfl) return;
  for (CodeFile& file : code_files(mappings)) {
    base::Fd fd = open(file);
    if (fd) report_file(file, std::move(fd));
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

bool UserSpace::State::is_entry(uint64_t address) const {
  const auto found = modules.find(dwfl_addrmodule(dwfl.get(), address));
  if (found == modules.end() || found->second.entry == 0) return false;
  return address - found->second.bias - found->second.entry < kEntryBytes;
}

bool UserSpace::State::is_same_code(const State& read) const {
  const auto is_same = [](const model::Mapping& a, const model::Mapping& b) {
    return a.start_address == b.start_address &&
           a.end_address == b.end_address && is_same_file(a, b);
  };
  return std::ranges::equal(code, read.code, is_same) &&
         perf_map.size() == read.perf_map.size();
}

uint32_t UserSpace::State::frame_at(uint64_t address, bool is_innermost) {
  const auto found = modules.find(dwfl_addrmodule(dwfl.get(), address));
  if (found != modules.end()) {
    return frames.keep(UserFrames::Place{
        found->second.file, address - found->second.bias, is_innermost});
  }
  model::TraceFrame frame;
  frame.module = is_mapped_code(address) ? "[jit]" : "[unknown]";
  frame.symbol = perf_map.name_of(address);
  // Code that is made at run time lies elsewhere each time.
  if (frame.symbol.empty()) frame.symbol = "code without a name";
  return frames.keep(frame);
}

base::Result<std::unique_ptr<UserSpace>> UserSpace::read(
    const Roots& roots, int32_t pid, UserFrames& frames,
    const UserSpace* known) {
  base::Result<std::string> text =
      base::read_file_at(roots.proc, std::to_string(pid) + "/maps");
  if (!text) return text.error();
  base::Result<std::vector<model::Mapping>> mappings = parse::parse_maps(*text);
  if (!mappings) return mappings.error();
  auto state = std::make_unique<State>(frames);
  std::ranges::copy_if(*mappings, std::back_inserter(state->code), can_be_run);
  state->perf_map = read_perf_map(roots, pid);
  if (known != nullptr && known->state_->is_same_code(*state))
    return std::unique_ptr<UserSpace>();
  state->report(pid, *mappings, [&](const CodeFile& file) {
    base::Fd fd = open_mapped(roots, pid, *file.mapping);
    // It may have ended since.
    return fd ? std::move(fd) : open_named(roots, pid, *file.mapping);
  });
  if (!state->is_attached) {
    return base::fail(base::ErrorKind::Gone,
                      "process " + std::to_string(pid) + " has no code");
  }
  return std::unique_ptr<UserSpace>(new UserSpace(std::move(state)));
}

base::Result<std::unique_ptr<UserSpace>> UserSpace::of_ended(
    const Roots& roots, const EndedSpace& ended, UserFrames& frames) {
  auto state = std::make_unique<State>(frames);
  state->code = ended.code;
  state->report(ended.pid, ended.code, [&](CodeFile& file) {
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

UserStack UserSpace::unwind(const UserDump& dump) {
  UserStack stack;
  if (dump.registers[kCodeSegment] != kCode64) return stack;
  std::vector<uint64_t> places;
  state_->reading = {&dump};
  const int ended = dwfl_getthread_frames(state_->dwfl.get(), dump.thread_id,
                                          take_frame, &places);
  stack.used_bytes = state_->reading.used_bytes;
  // Where nothing could be unwound, the place itself is still known.
  if (places.empty()) places.push_back(dump.registers[kInstructionPointer]);
  for (size_t i = 0; i < places.size(); ++i) {
    auto& cache = i == 0 ? state_->inner_frames : state_->outer_frames;
    auto [at, is_new] = cache.try_emplace(places[i]);
    if (is_new) at->second = state_->frame_at(places[i], i == 0);
    stack.frames.push_back(at->second);
    stack.has_strangers |= !state_->is_mapped_code(places[i]);
  }
  // libdwfl takes a caller that it cannot read for none.
  const bool has_ended = ended == 0 && !state_->reading.is_short;
  stack.is_whole = has_ended || state_->is_entry(places.back());
  return stack;
}

}  // namespace tidemark::source
