#include "source/bpf/trace_modules.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "source/bpf/loading.h"

namespace tidemark::source {
namespace {

ModuleLife life_of(const tm_module& entry) {
  ModuleLife life;
  life.name = text_of(entry.name);
  life.text = {entry.text_first, entry.text_bytes};
  life.init = {entry.init_first, entry.init_bytes};
  life.image_bytes = entry.image_bytes;
  life.loaded_at = entry.loaded_at;
  if (entry.freed_at != 0) life.unloaded_at = entry.freed_at;
  return life;
}

uint32_t time_of(const tm_module& entry) {
  return std::max(entry.loaded_at, entry.freed_at);
}

}  // namespace

base::Status BpfTraceModules::attach(const BpfModuleParts& parts,
                                     std::vector<std::string>& notes) {
  parts_ = parts;
  base::Status status = modules_.map(parts.modules);
  if (!status) return status;
  load_link_.reset(bpf_program__attach(parts.on_load));
  if (load_link_) free_link_.reset(bpf_program__attach(parts.on_free));
  if (!free_link_) {
    load_link_.reset();
    // A kernel that is built without modules has no events of them.
    if (errno == ENOENT) return base::Ok{};
    notes.push_back(
        bpf_error("modules that come and go are not told of", errno).what);
    return base::Ok{};
  }
  ring_.reset(
      ring_buffer__new(bpf_map__fd(parts.symbols), take, this, nullptr));
  if (!ring_) return bpf_error("cannot map a BPF ring", errno);
  return base::Ok{};
}

void BpfTraceModules::detach() {
  load_link_.reset();
  free_link_.reset();
  drain();
}

int BpfTraceModules::take(void* self, void* data, size_t bytes) {
  if (bytes < sizeof(tm_module_symbol)) return 0;
  const auto& sent = *static_cast<const tm_module_symbol*>(data);
  if (sent.is_last != 0) return 0;
  auto& modules = *static_cast<BpfTraceModules*>(self);
  modules.symbols_[sent.module].push_back({sent.address, text_of(sent.name)});
  ++modules.symbol_count_;
  return 0;
}

void BpfTraceModules::drain() {
  if (ring_) ring_buffer__consume(ring_.get());
}

int BpfTraceModules::fd() const {
  return ring_ ? ring_buffer__epoll_fd(ring_.get()) : -1;
}

uint32_t BpfTraceModules::used() const {
  return std::min<uint32_t>(*parts_.module_count, modules_.count());
}

ModuleHistory BpfTraceModules::history() const {
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < used(); ++i) {
    if (time_of(modules_[i]) != 0) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return time_of(modules_[a]) < time_of(modules_[b]);
  });
  ModuleHistory history;
  for (uint32_t index : order) {
    const ModuleLife life = life_of(modules_[index]);
    const size_t number =
        life.unloaded_at ? history.add_unload(life) : history.add_load(life);
    const auto symbols = symbols_.find(index + 1);
    if (symbols == symbols_.end()) continue;
    for (const Symbol& symbol : symbols->second)
      history.add_symbol(number, symbol.address, symbol.name);
  }
  return history;
}

// Both only grow.
uint64_t BpfTraceModules::version() const {
  return symbol_count_ + *parts_.events;
}

std::string BpfTraceModules::name_of(uint32_t number) const {
  if (number == 0 || number > used()) return {};
  return text_of(modules_[number - 1].name);
}

void BpfTraceModules::add_losses(std::vector<std::string>& notes) const {
  const uint32_t count = *parts_.module_count;
  if (count > used()) {
    notes.push_back(std::to_string(count - used()) +
                    " comings and goings of modules found no room: their "
                    "memory is the kernel's");
  }
  const uint64_t lost = *parts_.lost_symbols;
  if (lost > 0) {
    notes.push_back(std::to_string(lost) +
                    " functions of modules that came or went have no names");
  }
}

}  // namespace tidemark::source
