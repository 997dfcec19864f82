#include "source/boot_ring.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/text.h"
#include "source/tracefs.h"

namespace tidemark::source {
namespace {

constexpr std::string_view kAlloc = "mm_page_alloc";

// Whether the kernel was asked for allocations when it was started.
bool is_asked_for(const Roots& roots) {
  base::Result<std::string> line = base::read_file_at(roots.proc, "cmdline");
  if (!line) return false;
  std::string_view rest = base::trim(*line);
  while (!rest.empty()) {
    const std::string_view word = base::take_until(rest, ' ');
    if (word.starts_with("trace_event=") &&
        word.find(kAlloc) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

bool is_set(const base::Directory& tracefs, const std::string& file) {
  base::Result<std::string> text = base::read_file_at(tracefs, file);
  return text && base::trim(*text).starts_with('1');
}

// A number in the text of per_cpu/cpuN/stats; empty: it is not there.
template <typename Parse>
auto stat_in(const base::Directory& buffer, const std::string& cpu,
             std::string_view wanted, Parse parse)
    -> decltype(parse(std::string_view())) {
  base::Result<std::string> text =
      base::read_file_at(buffer, "per_cpu/" + cpu + "/stats");
  if (!text) return {};
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view value = base::take_line(rest);
    const std::string_view key = base::take_until(value, ':');
    if (key == wanted) return parse(base::trim(value));
  }
  return {};
}

// "12.345678" in ns.
std::optional<uint64_t> parse_seconds(std::string_view text) {
  const std::optional<uint64_t> seconds =
      base::parse_u64(base::take_until(text, '.'));
  constexpr size_t kDigits = 6;
  if (!seconds || text.size() != kDigits) return std::nullopt;
  const std::optional<uint64_t> microseconds = base::parse_u64(text);
  if (!microseconds) return std::nullopt;
  return *seconds * 1'000'000'000 + *microseconds * 1000;
}

}  // namespace

uint64_t count_lost_events(const base::Directory& buffer,
                           const std::vector<std::string>& cpus) {
  uint64_t lost = 0;
  for (const std::string& cpu : cpus) {
    for (const char* kind : {"overrun", "commit overrun", "dropped events"}) {
      lost += stat_in(buffer, cpu, kind, [](std::string_view value) {
                return base::parse_u64(value);
              }).value_or(0);
    }
  }
  return lost;
}

std::optional<BootRing> BootRing::find(const Roots& roots) {
  if (!is_asked_for(roots)) return std::nullopt;
  base::Result<base::Directory> tracefs = open_tracefs(roots);
  if (!tracefs) return std::nullopt;
  BootRing ring(std::move(*tracefs));
  if (!is_set(ring.tracefs_, "tracing_on") ||
      !is_set(ring.tracefs_,
              "events/kmem/" + std::string(kAlloc) + "/enable")) {
    return std::nullopt;
  }
  base::Result<FtraceEvents> events = FtraceEvents::make(ring.tracefs_);
  if (!events) return std::nullopt;
  ring.events_ = std::move(*events);
  base::Result<base::Directory> per_cpu =
      base::open_directory_at(ring.tracefs_, "per_cpu");
  if (!per_cpu) return std::nullopt;
  base::Result<std::vector<std::string>> names = base::list_directory(*per_cpu);
  if (!names) return std::nullopt;
  ring.cpus_ = std::move(*names);
  return ring;
}

base::Status BootRing::write(const std::string& file,
                             std::string_view text) const {
  const base::Fd fd(
      ::openat(tracefs_.fd.get(), file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd || ::write(fd.get(), text.data(), text.size()) !=
                 static_cast<ssize_t>(text.size())) {
    return base::fail_errno(tracefs_.join(file), errno);
  }
  return base::Ok{};
}

// What to add to a time of the buffer's for one of ours.
int64_t BootRing::clock_shift_ns() const {
  base::Result<std::string> clocks =
      base::read_file_at(tracefs_, "trace_clock");
  if (clocks && clocks->find("[mono]") != std::string::npos) return 0;
  if (cpus_.empty()) return 0;
  const std::optional<uint64_t> now =
      stat_in(tracefs_, cpus_.front(), "now ts", parse_seconds);
  if (!now) return 0;
  return static_cast<int64_t>(base::monotonic_ns()) -
         static_cast<int64_t>(*now);
}

uint64_t BootRing::lost_events() const {
  return count_lost_events(tracefs_, cpus_);
}

void BootRing::read_cpu(const std::string& cpu, size_t source,
                        const std::function<void()>& meanwhile) {
  const std::string file = "per_cpu/" + cpu + "/trace_pipe_raw";
  const base::Fd pages(::openat(tracefs_.fd.get(), file.c_str(),
                                O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!pages) return;
  constexpr size_t kPageBytes = 65536;  // at least as large as the kernel's
  std::string page(kPageBytes, '\0');
  while (true) {
    const ssize_t got = ::read(pages.get(), page.data(), page.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    events_.take_page(source, {page.data(), static_cast<size_t>(got)});
    meanwhile();
  }
}

void BootRing::fold_into(EventAccount& account, size_t first_source,
                         const std::function<void()>& meanwhile) {
  const uint64_t cut_ns = base::monotonic_ns();
  static_cast<void>(write("tracing_on", "0"));
  const bool all_have_stacks = is_set(tracefs_, "options/stacktrace");
  events_.begin(account, first_source + cpus_.size(), all_have_stacks);
  events_.shift_times(clock_shift_ns());
  account.part(first_source, cut_ns);
  for (size_t i = 0; i < cpus_.size(); ++i)
    read_cpu(cpus_[i], first_source + i, meanwhile);
  events_.end();
  account.settle(cut_ns);
  const uint64_t lost = lost_events();
  account.count_lost(lost);
  account.keep_folded_pages();
  account.add_note(
      "what the kernel kept in its own buffer since it was started is in the "
      "numbers; " +
      std::to_string(lost) + " events found no room there");
  if (!all_have_stacks) {
    account.add_note(
        "that has no stacks: trace_options=stacktrace was not on the command "
        "line");
  }
  // Nobody reads it from here on.
  static_cast<void>(write("events/kmem/enable", "0"));
  static_cast<void>(write("buffer_size_kb", "4"));
}

}  // namespace tidemark::source
