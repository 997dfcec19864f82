#include "source/module_history.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tidemark::source {
namespace {

// Stands for a function of init whose name was missed.
constexpr const char* kSomeInit = "(init)";

bool is_generic(const std::string& name) {
  return name == "init_module" || name == "cleanup_module";
}

// Since 6.3 the room before each function has a name too.
bool is_prefix(const std::string& name) {
  return name.starts_with("__pfx_") || name.starts_with("__cfi_");
}

}  // namespace

size_t ModuleHistory::add_load(ModuleLife life) {
  lives_.push_back(std::move(life));
  symbols_.emplace_back();
  return lives_.size() - 1;
}

size_t ModuleHistory::add_unload(const ModuleLife& life) {
  for (size_t i = lives_.size(); i > 0; --i) {
    ModuleLife& known = lives_[i - 1];
    if (known.name != life.name || known.text != life.text ||
        known.unloaded_at) {
      continue;
    }
    known.unloaded_at = life.unloaded_at;
    return i - 1;
  }
  ModuleLife earlier = life;
  earlier.init = {};  // it was gone long before
  return add_load(std::move(earlier));
}

void ModuleHistory::add_symbol(size_t life, uint64_t address,
                               std::string name) {
  if (name.empty() || is_prefix(name)) return;
  // "folio_add.isra.0" is folio_add to whoever reads it.
  const size_t dot = name.find('.', 1);
  if (dot != std::string::npos) name.resize(dot);
  auto [at, is_new] = symbols_[life].try_emplace(address, name);
  if (!is_new && is_generic(at->second)) at->second = std::move(name);
}

// The latest that was there: what lies in the place of another's init came
// after it.
const ModuleLife* ModuleHistory::find(uint64_t call, uint32_t time) const {
  const ModuleLife* found = nullptr;
  for (const ModuleLife& life : lives_) {
    if (life.loaded_at > time) continue;
    if (life.unloaded_at && *life.unloaded_at <= time) continue;
    if (!life.text.contains(call) && !life.init.contains(call)) continue;
    if (!found || life.loaded_at >= found->loaded_at) found = &life;
  }
  return found;
}

bool ModuleHistory::has_come_since(const std::string& module,
                                   uint32_t time) const {
  return std::any_of(lives_.begin(), lives_.end(), [&](const ModuleLife& life) {
    return life.name == module && life.loaded_at > time && !life.unloaded_at;
  });
}

void ModuleHistory::name_from(size_t life, model::TraceFrame& frame) const {
  const std::map<uint64_t, std::string>& symbols = symbols_[life];
  const uint64_t call = frame.address - 1;
  const bool is_init = lives_[life].init.contains(call);
  auto above = symbols.upper_bound(call);
  // One of init names no other code, nor the other way round.
  if (above != symbols.begin() &&
      lives_[life].init.contains(std::prev(above)->first) == is_init) {
    --above;
    frame.symbol = above->second;
    frame.offset = frame.address - above->first;
    return;
  }
  if (!is_init) return;
  frame.symbol = kSomeInit;
  frame.offset = frame.address - lives_[life].init.first;
}

model::TraceFrame ModuleHistory::frame_at(const model::TraceFrame& now,
                                          uint32_t time) const {
  if (lives_.empty() || now.address == 0) return now;
  // An address to return to: the call lies before it.
  const ModuleLife* life = find(now.address - 1, time);
  if (life == nullptr) {
    if (now.module.empty() || !has_come_since(now.module, time)) return now;
    return {now.address, {}, 0, {}, {}};
  }
  const bool is_still_there = !life->unloaded_at && now.module == life->name &&
                              life->text.contains(now.address - 1);
  if (is_still_there) return now;
  model::TraceFrame then = {now.address, {}, 0, life->name, {}};
  name_from(static_cast<size_t>(life - lives_.data()), then);
  return then;
}

std::vector<model::TraceModule> ModuleHistory::modules() const {
  std::vector<model::TraceModule> modules;
  for (const ModuleLife& life : lives_) {
    auto known = std::find_if(
        modules.begin(), modules.end(),
        [&](const model::TraceModule& one) { return one.name == life.name; });
    if (known == modules.end()) {
      modules.push_back({life.name, 0, false, false});
      known = std::prev(modules.end());
    }
    known->image_bytes = life.image_bytes;
    known->was_loaded |= life.loaded_at > 0;
    known->was_unloaded = life.unloaded_at.has_value();
  }
  return modules;
}

}  // namespace tidemark::source
