#include "analysis/trace_modules.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/module_use.h"

namespace tidemark::analysis {
namespace {

using model::Reading;
using model::Trace;
using model::TraceBefore;

using Rows = std::map<std::string, ModuleRow, std::less<>>;

constexpr const char* kNotAsked = "it is not known what was there before";

ModuleRow& row_of(Rows& rows, const std::string& name) {
  ModuleRow& row = rows[name];
  row.name = name;
  return row;
}

// "zs_create_pool+0x4a/0x180 [zsmalloc]"
std::string_view module_in(std::string_view caller) {
  const size_t bracket = caller.find(" [");
  if (bracket == std::string_view::npos) return {};
  caller.remove_prefix(bracket + 2);
  return caller.substr(0, caller.find_first_of(" ]"));
}

std::string function_in(std::string_view caller) {
  const std::string_view module = module_in(caller);
  std::string name(caller.substr(0, caller.find_first_of("+ ")));
  if (!module.empty()) name += " [" + std::string(module) + "]";
  return name;
}

// What an area has of its own, without its guard page and others' pages.
uint64_t own_bytes(const model::VmallocArea& area, uint64_t page_bytes) {
  if (area.kind != model::VmallocKind::Vmalloc) return 0;
  return area.pages.value_or(0) * page_bytes;
}

void add_traced(const Trace& trace, Rows& rows, ModuleTable& table) {
  TraceTreeOptions options;
  options.groups = {TraceGroup::Module};
  for (const TraceNode& node : make_trace_tree(trace, options).children) {
    if (node.name.empty()) {
      table.kernel = node.total;
    } else {
      row_of(rows, node.name).total = node.total;
    }
  }
  for (const model::TraceLeaf& leaf : trace.leaves) {
    const StackModule owner = module_use(trace, trace.stacks[leaf.stack]);
    if (owner.name.empty()) continue;
    ModuleRow& row = row_of(rows, owner.name);
    switch (owner.use) {
      case ModuleUse::Loading:
        row.loading_pages += leaf.pages;
        break;
      case ModuleUse::PageCache:
        row.cache_pages += leaf.pages;
        break;
      case ModuleUse::Slab:
        row.slab_pages += leaf.pages;
        break;
      case ModuleUse::Later:
        row.later_pages += leaf.pages;
        break;
    }
  }
}

void add_images(const Trace& trace, Rows& rows, ModuleTable& table) {
  const Reading<std::vector<model::KernelModule>> modules =
      trace.before
          ? trace.before->modules
          : model::unknown<std::vector<model::KernelModule>>(kNotAsked);
  if (modules) {
    uint64_t sum = 0;
    for (const model::KernelModule& module : *modules) {
      ModuleRow& row = row_of(rows, module.name);
      row.was_there = true;
      row.image_bytes = model::known(module.size_bytes);
      sum += module.size_bytes;
    }
    table.before_image_bytes = model::known(sum);
  } else {
    table.before_image_bytes =
        model::unknown<uint64_t>(modules.unknown_because);
  }
  for (const model::TraceModule& module : trace.modules) {
    ModuleRow& row = row_of(rows, module.name);
    row.image_bytes = model::known(module.image_bytes);
    row.was_loaded |= module.was_loaded;
    row.was_unloaded |= module.was_unloaded;
  }
  for (auto& [name, row] : rows) {
    if (row.image_bytes) continue;
    row.image_bytes = model::unknown<uint64_t>(
        modules ? "it was not there when the trace began, and nothing told of "
                  "its coming"
                : modules.unknown_because);
  }
}

// A row for each module that held something before; one may have gone from the
// kernel's list since.
void add_holders(const Trace& trace, Rows& rows) {
  if (!trace.before) return;
  if (trace.before->code) {
    for (const model::AllocationSite& site : *trace.before->code) {
      if (!site.module.empty()) row_of(rows, site.module);
    }
  }
  if (!trace.before->pages) return;
  for (const model::ModulePages& module : *trace.before->pages) {
    if (!module.module.empty()) row_of(rows, module.module);
  }
}

void add_code(const TraceBefore& before, Rows& rows) {
  std::map<std::string_view, int64_t> held;
  if (before.code) {
    for (const model::AllocationSite& site : *before.code) {
      // Their objects are counted at their own lines.
      if (site.is_noise() || site.is_slab_pages() || site.module.empty()) {
        continue;
      }
      held[site.module] += site.bytes;
    }
  }
  for (auto& [name, row] : rows) {
    row.before_code_bytes =
        before.code ? model::known(held[name])
                    : model::unknown<int64_t>(before.code.unknown_because);
  }
}

void add_vmalloc(const TraceBefore& before, uint64_t page_bytes, Rows& rows,
                 ModuleTable& table) {
  if (!before.vmalloc) {
    for (auto& [name, row] : rows)
      row.before_vmalloc_bytes =
          model::unknown<uint64_t>(before.vmalloc.unknown_because);
    table.before_vmalloc =
        model::unknown<std::vector<BeforeRow>>(before.vmalloc.unknown_because);
    return;
  }
  for (auto& [name, row] : rows)
    row.before_vmalloc_bytes = model::known(uint64_t{0});
  std::map<std::string, uint64_t> by_caller;
  for (const model::VmallocArea& area : before.vmalloc->areas) {
    const uint64_t bytes = own_bytes(area, page_bytes);
    if (bytes == 0) continue;
    by_caller[function_in(area.caller)] += bytes;
    const auto row = rows.find(module_in(area.caller));
    if (row != rows.end()) *row->second.before_vmalloc_bytes.value += bytes;
  }
  std::vector<BeforeRow> callers;
  callers.reserve(by_caller.size());
  for (const auto& [name, bytes] : by_caller)
    callers.push_back({name, bytes});
  table.before_vmalloc = model::known(std::move(callers));
}

void add_slab(const TraceBefore& before, uint64_t page_bytes,
              ModuleTable& table) {
  if (!before.slab) {
    table.before_slab =
        model::unknown<std::vector<BeforeRow>>(before.slab.unknown_because);
    return;
  }
  std::vector<BeforeRow> caches;
  for (const model::SlabCache& cache : *before.slab) {
    const uint64_t bytes = cache.slabs * cache.pages_per_slab * page_bytes;
    if (bytes > 0) caches.push_back({cache.name, bytes});
  }
  table.before_slab = model::known(std::move(caches));
}

// Whatever holds something, also where the kernel's own code does.
void add_lines(const TraceBefore& before, ModuleTable& table) {
  if (!before.code) {
    table.before_code =
        model::unknown<std::vector<BeforeRow>>(before.code.unknown_because);
    return;
  }
  std::vector<BeforeRow> lines;
  for (const model::AllocationSite& site : *before.code) {
    if (site.is_noise() || site.is_slab_pages() || site.bytes <= 0) continue;
    std::string name = site.file + ":" + std::to_string(site.line);
    if (!site.module.empty()) name += " [" + site.module + "]";
    lines.push_back(
        {name + " " + site.function, static_cast<uint64_t>(site.bytes)});
  }
  table.before_code = model::known(std::move(lines));
}

void add_pages(const TraceBefore& before, uint64_t page_bytes, Rows& rows,
               ModuleTable& table) {
  if (!before.pages) {
    const std::string& because = before.pages.unknown_because;
    for (auto& [name, row] : rows)
      row.before_pages = model::unknown<uint64_t>(because);
    table.before_pages = model::unknown<std::vector<BeforeRow>>(because);
    return;
  }
  std::vector<BeforeRow> modules;
  for (const model::ModulePages& module : *before.pages) {
    modules.push_back({module.module, module.pages * page_bytes});
  }
  for (auto& [name, row] : rows)
    row.before_pages = model::known(uint64_t{0});
  for (const model::ModulePages& module : *before.pages) {
    const auto row = rows.find(module.module);
    if (row != rows.end()) *row->second.before_pages.value += module.pages;
  }
  table.before_pages = model::known(std::move(modules));
}

void add_before(const Trace& trace, Rows& rows, ModuleTable& table) {
  if (trace.before) {
    add_pages(*trace.before, trace.page_size_bytes, rows, table);
    add_lines(*trace.before, table);
    add_code(*trace.before, rows);
    add_vmalloc(*trace.before, trace.page_size_bytes, rows, table);
    add_slab(*trace.before, trace.page_size_bytes, table);
    return;
  }
  for (auto& [name, row] : rows) {
    row.before_code_bytes = model::unknown<int64_t>(kNotAsked);
    row.before_vmalloc_bytes = model::unknown<uint64_t>(kNotAsked);
    row.before_pages = model::unknown<uint64_t>(kNotAsked);
  }
  table.before_code = model::unknown<std::vector<BeforeRow>>(kNotAsked);
  table.before_pages = model::unknown<std::vector<BeforeRow>>(kNotAsked);
  table.before_slab = model::unknown<std::vector<BeforeRow>>(kNotAsked);
  table.before_vmalloc = model::unknown<std::vector<BeforeRow>>(kNotAsked);
}

uint64_t size_of(const ModuleRow& row, TraceOrder order) {
  switch (order) {
    case TraceOrder::ByPages:
      return row.total.pages;
    case TraceOrder::ByPeak:
      return row.total.peak_pages;
    case TraceOrder::ByMachinePeak:
      return row.total.machine_peak_pages;
  }
  return 0;
}

void cut(Reading<std::vector<BeforeRow>>& rows, size_t top) {
  if (!rows) return;
  std::ranges::stable_sort(*rows.value, std::greater<>(), &BeforeRow::bytes);
  if (top > 0 && rows->size() > top) rows.value->resize(top);
}

}  // namespace

ModuleTable make_module_table(const Trace& trace, TraceOrder order,
                              size_t top) {
  ModuleTable table;
  Rows rows;
  add_traced(trace, rows, table);
  add_holders(trace, rows);
  add_images(trace, rows, table);
  add_before(trace, rows, table);
  table.rows.reserve(rows.size());
  for (auto& [name, row] : rows)
    table.rows.push_back(std::move(row));
  std::ranges::stable_sort(table.rows, [&](const ModuleRow& a,
                                           const ModuleRow& b) {
    const uint64_t a_size = size_of(a, order);
    const uint64_t b_size = size_of(b, order);
    if (a_size != b_size) return a_size > b_size;
    return a.image_bytes.value.value_or(0) > b.image_bytes.value.value_or(0);
  });
  if (top > 0 && table.rows.size() > top) table.rows.resize(top);
  cut(table.before_slab, top);
  cut(table.before_vmalloc, top);
  cut(table.before_code, top);
  cut(table.before_pages, top);
  return table;
}

std::vector<model::ModulePages> pages_by_module(const Trace& trace) {
  std::map<std::string, uint64_t> sums;
  for (const model::TraceLeaf& leaf : trace.leaves)
    sums[module_use(trace, trace.stacks[leaf.stack]).name] += leaf.pages;
  std::vector<model::ModulePages> modules;
  modules.reserve(sums.size());
  for (const auto& [name, pages] : sums)
    modules.push_back({name, pages});
  return modules;
}

}  // namespace tidemark::analysis
