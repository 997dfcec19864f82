#include "source/event_modules.h"

#include <algorithm>
#include <optional>

#include "base/page_size.h"
#include "base/text.h"

namespace tidemark::source {
namespace {

// Where nothing tells how much code init has: no more than is common.
constexpr uint64_t kSomeInitBytes = 16384;

uint64_t page_behind(uint64_t address) {
  const uint64_t page = base::page_bytes();
  return (address / page + 1) * page;
}

}  // namespace

void EventModules::begin(std::vector<std::string>& notes) {
  base::Status status = functions_.open();
  if (!status) {
    notes.push_back("code of modules that go has no names: " +
                    status.error().what);
    return;
  }
  has_begun_ = true;
  read_functions();
  for (const auto& [name, functions] : known_) {
    Stay& stay = stays_.emplace_back();
    stay.name = name;
    see(stay);
    stay.was_seen = true;
    last_[name] = static_cast<uint32_t>(stays_.size() - 1);
  }
  known_.clear();
}

void EventModules::read_functions() {
  known_.clear();
  base::Status status =
      functions_.read([&](const parse::KernelSymbolLine& line) {
        auto module = known_.find(line.module);
        if (module == known_.end()) {
          module = known_.try_emplace(std::string(line.module)).first;
        }
        module->second.push_back({line.address, std::string(line.name)});
      });
  // Where it cannot be opened again, the next one that comes has no names.
  has_begun_ = status && functions_.open();
}

uint64_t EventModules::number_in(const std::string& file) const {
  base::Result<base::Directory> folder = base::open_directory(folder_);
  if (!folder) return 0;
  base::Result<std::string> text = base::read_file_at(*folder, file);
  if (!text) return 0;
  std::string_view digits = base::trim(*text);
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    return base::parse_hex(digits).value_or(0);
  }
  return base::parse_u64(digits).value_or(0);
}

// The first code of any other module behind an address.
uint64_t EventModules::other_code_behind(uint64_t address,
                                         const std::string& module) const {
  uint64_t next = UINT64_MAX;
  for (const auto& [name, functions] : known_) {
    if (name == module) continue;
    for (const Symbol& function : functions) {
      if (function.address > address) next = std::min(next, function.address);
    }
  }
  return next;
}

// The sections of a module have no sizes. Its code and that of init lie in
// places of their own and begin with these.
void EventModules::find_places(Stay& stay) const {
  const uint64_t text = number_in(stay.name + "/sections/.text");
  const uint64_t init = number_in(stay.name + "/sections/.init.text");
  stay.image_bytes = number_in(stay.name + "/coresize");
  uint64_t init_bytes = number_in(stay.name + "/initsize");
  if (init_bytes == 0) init_bytes = kSomeInitBytes;
  if (init != 0) {
    uint64_t end = init + init_bytes;
    if (text > init) end = std::min(end, text);
    end = std::min(end, other_code_behind(init, stay.name));
    stay.init = {init, end - init};
  }
  uint64_t last = text;
  for (const Symbol& function : stay.functions) {
    const bool is_text = function.address >= text &&
                         function.address - text < stay.image_bytes &&
                         !stay.init.contains(function.address);
    if (is_text) last = std::max(last, function.address);
  }
  if (text != 0) stay.text = {text, page_behind(last) - text};
}

void EventModules::see(Stay& stay) const {
  const auto functions = known_.find(stay.name);
  if (functions != known_.end()) stay.functions = functions->second;
  find_places(stay);
  stay.was_seen = stay.text.bytes != 0 || stay.init.bytes != 0;
}

uint32_t EventModules::came(const std::string& name) {
  // Of one that went meanwhile nothing is known any more.
  const auto before = last_.find(name);
  if (before != last_.end()) stays_[before->second].is_waiting = false;
  const auto number = static_cast<uint32_t>(stays_.size());
  Stay& stay = stays_.emplace_back();
  stay.name = name;
  stay.is_waiting = true;
  is_waiting_ = true;
  last_[name] = number;
  return number;
}

uint32_t EventModules::went(const std::string& name) {
  const auto known = last_.find(name);
  if (known != last_.end()) return known->second;
  // It came when nobody looked.
  const auto number = static_cast<uint32_t>(stays_.size());
  stays_.emplace_back().name = name;
  last_[name] = number;
  return number;
}

void EventModules::look() {
  if (!std::exchange(is_waiting_, false)) return;
  if (has_begun_) read_functions();
  for (Stay& stay : stays_) {
    if (std::exchange(stay.is_waiting, false)) see(stay);
  }
  known_.clear();
}

void EventModules::keep_functions(size_t life, const Stay& stay) {
  for (const Symbol& function : stay.functions)
    history_.add_symbol(life, function.address, function.name);
}

void EventModules::loaded(uint32_t number, int32_t thread) {
  const Stay& stay = stays_[number];
  ModuleLife life;
  life.name = stay.name;
  life.text = stay.text;
  life.init = stay.init;
  life.image_bytes = stay.image_bytes;
  life.loaded_at = ++time_;
  keep_functions(history_.add_load(std::move(life)), stay);
  const auto known = loading_.find(thread);
  const bool has_begun =
      known != loading_.end() && loads_[known->second - 1].empty();
  if (has_begun) {
    loads_[known->second - 1] = stay.name;
    return;
  }
  loads_.push_back(stay.name);
  loading_[thread] = static_cast<uint32_t>(loads_.size());
}

void EventModules::unloaded(uint32_t number) {
  const Stay& stay = stays_[number];
  ModuleLife life;
  life.name = stay.name;
  life.text = stay.text;
  life.image_bytes = stay.image_bytes;
  life.unloaded_at = ++time_;
  const size_t before = history_.lives().size();
  const size_t at = history_.add_unload(life);
  if (at == before) keep_functions(at, stay);
}

uint32_t EventModules::load_of(int32_t thread, bool is_init) {
  const auto known = loading_.find(thread);
  if (is_init) return known == loading_.end() ? 0 : known->second;
  // One that has its name is past this: here begins the next.
  if (known != loading_.end() && loads_[known->second - 1].empty()) {
    return known->second;
  }
  loads_.emplace_back();
  const auto number = static_cast<uint32_t>(loads_.size());
  loading_[thread] = number;
  return number;
}

std::string EventModules::name_of(uint32_t load) const {
  if (load == 0 || load > loads_.size()) return {};
  return loads_[load - 1];
}

void EventModules::add_losses(std::vector<std::string>& notes) const {
  const auto unseen = std::ranges::count_if(stays_, [](const Stay& stay) {
    return !stay.was_seen && !stay.is_waiting;
  });
  if (unseen == 0) return;
  notes.push_back(std::to_string(unseen) +
                  " modules were gone before they could be looked at: their "
                  "code has no names");
}

}  // namespace tidemark::source
