// Modules of the kernel that come and go, for means that only tell when one of
// that name does: where its code lies and what its functions are called is
// looked up while it is there.
//
// An event is read some time after it happened. Of a module that was unloaded
// by then nothing more can be learned, and functions of init lose their names
// as soon as init has run; so all functions of all modules are known from the
// start, and one that comes is looked at as soon as it is told of.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/file.h"
#include "source/kernel_symbols.h"
#include "source/module_history.h"
#include "source/roots.h"

namespace tidemark::source {

class EventModules {
 public:
  static constexpr const char* kFolder = "/sys/module";

  // The roots must outlive it. `folder` is what the kernel tells of each.
  explicit EventModules(const Roots& roots, std::string folder = kFolder)
      : functions_(roots), folder_(std::move(folder)) {}

  // Learns of those that are there; what comes and goes is told from here on.
  // Without names it goes on without them, and a note says so.
  void begin(std::vector<std::string>& notes);

  // --- as events are read, in any order; a number for the event ---
  uint32_t came(const std::string& name);
  uint32_t went(const std::string& name);
  // Looks at those that came since.
  void look();

  // --- as events are taken, in their order ---
  void loaded(uint32_t number, int32_t thread);
  void unloaded(uint32_t number);
  // How many have come and gone.
  uint32_t time() const { return time_; }
  // What the thread loads, counted from 1; 0: not known. Past `is_init` the
  // kernel has told which it is.
  uint32_t load_of(int32_t thread, bool is_init);

  // --- at the end ---
  // Empty: the kernel has not told.
  std::string name_of(uint32_t load) const;
  const ModuleHistory& history() const { return history_; }
  void add_losses(std::vector<std::string>& notes) const;

 private:
  struct Symbol {
    uint64_t address = 0;
    std::string name;
  };
  // One stay of a module, as far as it was seen.
  struct Stay {
    std::string name;
    CodeSpan text;
    CodeSpan init;
    uint64_t image_bytes = 0;
    std::vector<Symbol> functions;
    bool is_waiting = false;  // to be looked at
    bool was_seen = false;
  };
  void read_functions();
  void see(Stay& stay) const;
  void find_places(Stay& stay) const;
  uint64_t number_in(const std::string& file) const;
  uint64_t other_code_behind(uint64_t address, const std::string& module) const;
  void keep_functions(size_t life, const Stay& stay);

  ModuleFunctions functions_;
  std::string folder_;
  bool has_begun_ = false;
  bool is_waiting_ = false;
  // Of those that are there, while they are looked at.
  std::map<std::string, std::vector<Symbol>, std::less<>> known_;
  std::vector<Stay> stays_;               // by number
  std::map<std::string, uint32_t> last_;  // the last stay of each name

  uint32_t time_ = 0;
  ModuleHistory history_;
  std::vector<std::string> loads_;                 // names, once they are told
  std::unordered_map<int32_t, uint32_t> loading_;  // by thread, from 1
};

}  // namespace tidemark::source
