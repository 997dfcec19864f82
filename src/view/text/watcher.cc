#include "view/text/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"

namespace tidemark::view {
namespace {

constexpr size_t kNumberEnd = 97;

// Blanks between the thousands.
std::string kib(uint64_t bytes) {
  std::string digits = base::grouped(bytes / 1024);
  std::ranges::replace(digits, ',', ' ');
  return digits;
}

std::string line_of(std::string label, const std::string& number,
                    std::string_view note) {
  const size_t width = base::display_width(label);
  const size_t room = kNumberEnd - number.size();
  label += std::string(room > width ? room - width : 1, ' ') + number + " Ki";
  return label + std::string(note.empty() ? "" : "   // ") + std::string(note) +
         "\n";
}

std::string line(std::string label, uint64_t bytes, std::string_view note) {
  return line_of(std::move(label), kib(bytes), note);
}

std::string maybe_line(std::string label, std::optional<uint64_t> bytes,
                       std::string_view note = {}) {
  return line_of(std::move(label), bytes ? kib(*bytes) : "?", note);
}

std::string oom_note(const analysis::WatcherProcess& process) {
  if (process.oom_score.value_or(0) == 0 &&
      process.oom_score_adj.value_or(0) == 0) {
    return "";
  }
  const auto number = [](std::optional<int64_t> value) {
    return value ? std::to_string(*value) : "?";
  };
  return fmt::format("oom_adj {}, oom_score {}, oom_score_adj {}",
                     number(process.oom_adj), number(process.oom_score),
                     number(process.oom_score_adj));
}

std::string process_line(const analysis::WatcherProcess& process,
                         std::optional<uint64_t> total_bytes) {
  std::string note = "? %";
  if (process.bytes && total_bytes) {
    note = base::percent(*process.bytes, *total_bytes) + " %";
  }
  const std::string oom = oom_note(process);
  return maybe_line(
      fmt::format("{} ({})", base::visible(process.name), process.pid),
      process.bytes, note + (oom.empty() ? "" : "; ") + oom);
}

std::string other_kernel_line(std::optional<int64_t> bytes) {
  std::string number = "?";
  if (bytes) {
    number = kib(static_cast<uint64_t>(*bytes < 0 ? -*bytes : *bytes));
    if (*bytes < 0) number.insert(0, 1, '-');
  }
  return line_of("other memory of the kernel:", number,
                 "estimate: total - slab - free - buffers - cached - swap "
                 "cache - (resident - shared) of each recorded process");
}

}  // namespace

std::string watcher_text(const WatcherHead& head, const model::Process& process,
                         uint64_t page_size_bytes,
                         const analysis::WatcherListing& listing,
                         size_t row_limit) {
  std::string text = fmt::format(
      "pid:            {}\nprocess id:     {}\nprocess name:   {}\n"
      "measurement:    {}\ntime:           {}\n\n# statm data\n",
      head.pid, head.process_id, base::visible(head.name), head.measurement_id,
      head.time);
  const auto pages = [&](uint64_t model::Statm::*count) {
    return process.statm
               ? std::optional((*process.statm).*count * page_size_bytes)
               : std::nullopt;
  };
  text +=
      maybe_line("size:", pages(&model::Statm::size_pages),
                 "total program size (same as VmSize in /proc/[pid]/status)");
  text += maybe_line("resident:", pages(&model::Statm::resident_pages),
                     "resident set size (same as VmRSS in /proc/[pid]/status)");
  text += maybe_line("shared:", pages(&model::Statm::shared_pages),
                     "number of resident shared pages (i.e., backed by a file) "
                     "(same as RssFile+RssShmem in /proc/[pid]/status)");
  text += maybe_line("text:", pages(&model::Statm::text_pages), "text (code)");
  text += line("lib:", 0, "library (unused since Linux 2.6; always 0)");
  text += maybe_line("data:", pages(&model::Statm::data_pages), "data + stack");
  text += line("dt:", 0, "dirty pages (unused since Linux 2.6; always 0)");
  text += "\n# smaps data (" + head.metric + ")\n";
  text += line("thread stacks:", listing.stack_bytes, "");
  text += line("heap:", listing.heap_bytes, "");
  text += line("anonymous:", listing.anonymous_bytes, "") + "\n";
  uint64_t others = 0;
  for (size_t i = 0; i < listing.named.size(); ++i) {
    const auto& [name, bytes] = listing.named[i];
    if (i < row_limit) {
      text += line(base::visible(name), bytes, "");
    } else {
      others += bytes;
    }
  }
  text += "\n" + line("other mappings:", others, "") + "\n";
  return text + line("sum:", listing.sum_bytes, "");
}

std::string watcher_machine_text(const std::string& time,
                                 const std::string& metric,
                                 const analysis::WatcherMachine& machine,
                                 size_t row_limit) {
  const model::MemInfo& info = machine.meminfo;
  std::string text = "time:           " + time + "\n\n# meminfo data\n";
  text += maybe_line("total:", info.total_bytes);
  text += maybe_line("free:", info.free_bytes);
  text += maybe_line("buffers:", info.buffers_bytes);
  text += maybe_line("cached:", info.cached_bytes);
  text += maybe_line("swap cache:", info.swap_cached_bytes);
  text += maybe_line("anonymous pages:", info.anon_pages_bytes);
  text += maybe_line("mapped:", info.mapped_bytes);
  text += maybe_line("shared memory:", info.shmem_bytes);
  text += maybe_line("slab:", machine.slab_bytes);
  text += maybe_line("reclaimable slab:", info.slab_reclaimable_bytes);
  text += other_kernel_line(machine.other_kernel_bytes) + "\n";
  text += maybe_line("swap total:", info.swap_total_bytes);
  text += maybe_line("swap free:", info.swap_free_bytes) + "\n";
  text += maybe_line("available:", info.available_bytes, "MemAvailable");
  text += maybe_line("available, computed:", machine.available_computed_bytes,
                     "free + buffers + (cached - shared memory) + swap cache + "
                     "reclaimable slab");
  text += "\n# processes (" + metric + ")\n";
  uint64_t others = 0;
  for (size_t i = 0; i < machine.processes.size(); ++i) {
    if (i < row_limit) {
      text += process_line(machine.processes[i], info.total_bytes);
    } else {
      others += machine.processes[i].bytes.value_or(0);
    }
  }
  text += "\n" + line("others:", others, "") + "\n";
  return text + line("sum:", machine.sum_bytes, "");
}

}  // namespace tidemark::view
