#include "source/page_owner_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "source/mount_points.h"
#include "source/page_owner_trace.h"

namespace tidemark::source {
namespace {

using base::ErrorKind;
using model::PageOwnerRecord;
using parse::PageOwnerParser;

constexpr size_t kBufferBytes = size_t{1} << 20;
// The kernel makes a record in one page and fails when it has no room for it;
// pages have up to 64 KiB.
constexpr size_t kLeastRoomBytes = size_t{64} << 10;
static_assert(kBufferBytes >=
              2 * PageOwnerParser::kLongestRecordBytes + kLeastRoomBytes);

constexpr std::string_view kStacksFile = "page_owner_stacks/show_stacks";
constexpr std::string_view kHandlesFile = "page_owner_stacks/show_handles";
constexpr std::string_view kStacksHandlesFile =
    "page_owner_stacks/show_stacks_handles";
constexpr std::string_view kThresholdFile = "page_owner_stacks/count_threshold";

// A file and when what it tells was so.
struct Input {
  base::Fd fd;
  std::string path;
  uint64_t realtime_ns = 0;
};

base::Result<Input> open_copy(const std::string& path) {
  Input input{base::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path};
  if (!input.fd) return base::fail_errno(path, errno);
  struct stat status {};
  if (::fstat(input.fd.get(), &status) != 0) {
    return base::fail_errno(path, errno);
  }
  if (S_ISDIR(status.st_mode)) return base::fail_errno(path, EISDIR);
  input.realtime_ns =
      static_cast<uint64_t>(status.st_mtim.tv_sec) * uint64_t{1'000'000'000} +
      static_cast<uint64_t>(status.st_mtim.tv_nsec);
  return input;
}

bool is_asked_for_at_boot(const Roots& roots) {
  base::Result<std::string> command_line =
      base::read_file_at(roots.proc, "cmdline");
  if (!command_line) return false;
  std::string_view rest = base::trim(*command_line);
  for (std::string_view word = base::take_word(rest); !word.empty();
       word = base::take_word(rest)) {
    if (word == "page_owner=on" || word == "page_owner=1") return true;
  }
  return false;
}

// An absent file has two reasons that look alike from here; the command line
// of the kernel tells them apart.
base::Error explain(const Roots& roots, const base::Error& error,
                    std::string_view absent_means) {
  if (error.kind == ErrorKind::Denied) {
    return base::fail(error.kind, error.what,
                      "run as root; a kernel in lockdown refuses it to root "
                      "too");
  }
  if (error.kind != ErrorKind::NotFound) return error;
  return base::fail(
      ErrorKind::Unsupported, error.what + ": " + std::string(absent_means),
      is_asked_for_at_boot(roots)
          ? "page_owner=on was given at boot: the kernel was built without "
            "CONFIG_PAGE_OWNER, or is too old for this file"
          : "needs a kernel with CONFIG_PAGE_OWNER, booted with page_owner=on");
}

base::Result<base::Directory> open_debugfs(const Roots& roots) {
  if (!roots.is_live) {
    return base::fail(ErrorKind::Unsupported,
                      roots.proc.path + ": a copied tree has no page_owner",
                      "copy /sys/kernel/debug/page_owner and name that file");
  }
  const std::optional<std::string> place = mount_point_of(roots, "debugfs");
  if (!place) {
    return base::fail(ErrorKind::NotFound, "page_owner: debugfs is not mounted",
                      "sudo mount -t debugfs debugfs /sys/kernel/debug");
  }
  base::Result<base::Directory> debugfs = base::open_directory(*place);
  if (!debugfs) return explain(roots, debugfs.error(), "no debugfs there");
  return debugfs;
}

base::Result<Input> open_live(const Roots& roots, std::string_view name,
                              std::string_view absent_means) {
  base::Result<base::Directory> debugfs = open_debugfs(roots);
  if (!debugfs) return debugfs.error();
  base::Result<base::Fd> fd = base::open_file_at(*debugfs, std::string(name));
  if (!fd) return explain(roots, fd.error(), absent_means);
  return Input{std::move(*fd), debugfs->join(name), base::realtime_ns()};
}

// Fills what is free of the buffer, in as many calls as that takes: the live
// file gives one record a call. True at the end of the file.
base::Result<bool> fill(const Input& input, std::vector<char>& buffer,
                        size_t& filled) {
  while (buffer.size() - filled >= kLeastRoomBytes) {
    const ssize_t got =
        ::read(input.fd.get(), buffer.data() + filled, buffer.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_errno(input.path, errno);
    if (got == 0) return true;
    filled += static_cast<size_t>(got);
  }
  return false;
}

base::Result<parse::PageOwnerFaults> stream(
    const Input& input, const parse::PageOwnerVisitor& visit) {
  PageOwnerParser parser;
  std::vector<char> buffer(kBufferBytes);
  size_t filled = 0;
  while (true) {
    base::Result<bool> at_end = fill(input, buffer, filled);
    if (!at_end) return at_end.error();
    const size_t taken = parser.parse({buffer.data(), filled}, *at_end, visit);
    if (*at_end) return parser.faults();
    std::memmove(buffer.data(), buffer.data() + taken, filled - taken);
    filled -= taken;
  }
}

base::Result<Input> open_records(const Roots& roots, const std::string& path) {
  if (!path.empty()) return open_copy(path);
  return open_live(roots, "page_owner", "this kernel notes no owners of pages");
}

// Somebody named another file: an empty trace would say that nothing is held.
base::Error no_record(const std::string& path, std::string_view what) {
  return base::fail(
      ErrorKind::Malformed,
      path + " is no dump of " + std::string(what) + ": no record in it");
}

base::Result<std::string> read_all(const Input& input) {
  std::string text;
  std::vector<char> buffer(kBufferBytes);
  while (true) {
    size_t filled = 0;
    base::Result<bool> at_end = fill(input, buffer, filled);
    if (!at_end) return at_end.error();
    text.append(buffer.data(), filled);
    if (*at_end) return text;
  }
}

// What the kernel was told to leave out.
void note_threshold(const base::Directory& debugfs,
                    PageOwnerTraceMaker& maker) {
  base::Result<std::string> text =
      base::read_file_at(debugfs, std::string(kThresholdFile));
  if (!text) return;
  const uint64_t threshold = base::parse_u64(base::trim(*text)).value_or(0);
  if (threshold == 0) return;
  maker.note("stacks of fewer than " + base::grouped(threshold) +
             " pages are left out: page_owner_stacks/count_threshold");
}

base::Result<PageOwnerTrace> trace_of_stacks(const base::Directory& debugfs,
                                             std::string_view text) {
  PageOwnerTraceMaker maker(base::realtime_ns());
  const parse::PageOwnerFaults faults = parse::parse_page_owner_stacks(
      text, [&](const model::PageOwnerStack& stack) { maker.add(stack); });
  note_threshold(debugfs, maker);
  return maker.finish(faults);
}

}  // namespace

bool has_page_owner(const Roots& roots) {
  return static_cast<bool>(open_records(roots, {}));
}

base::Result<parse::PageOwnerFaults> read_page_owner_records(
    const Roots& roots, const std::string& path,
    const parse::PageOwnerVisitor& visit) {
  base::Result<Input> input = open_records(roots, path);
  if (!input) return input.error();
  bool has_record = false;
  base::Result<parse::PageOwnerFaults> faults =
      stream(*input, [&](const PageOwnerRecord& record) {
        has_record = true;
        visit(record);
      });
  if (faults && !has_record) return no_record(input->path, "page_owner");
  return faults;
}

base::Result<PageOwnerTrace> read_page_owner(const Roots& roots,
                                             const PageOwnerOptions& options) {
  base::Result<Input> input = open_records(roots, options.path);
  if (!input) return input.error();
  PageOwnerTraceMaker maker(input->realtime_ns);
  uint64_t seen = 0;
  base::Result<parse::PageOwnerFaults> faults =
      stream(*input, [&](const PageOwnerRecord& record) {
        ++seen;
        if (options.selection.has(record)) maker.add(record);
      });
  if (!faults) return faults.error();
  if (seen == 0) return no_record(input->path, "page_owner");
  return maker.finish(*faults);
}

base::Result<PageOwnerTrace> read_page_owner_stacks(const Roots& roots,
                                                    const std::string& path) {
  if (path.empty()) {
    base::Result<PageOwnerStackReader> reader =
        PageOwnerStackReader::open(roots);
    if (!reader) return reader.error();
    return reader->read();
  }
  base::Result<Input> input = open_copy(path);
  if (!input) return input.error();
  base::Result<std::string> text = read_all(*input);
  if (!text) return text.error();
  PageOwnerTraceMaker maker(input->realtime_ns);
  const parse::PageOwnerFaults faults = parse::parse_page_owner_stacks(
      *text, [&](const model::PageOwnerStack& stack) { maker.add(stack); });
  if (maker.totals().records == 0) {
    return no_record(path, "page_owner_stacks/show_stacks");
  }
  return maker.finish(faults);
}

base::Result<PageOwnerStackReader> PageOwnerStackReader::open(
    const Roots& roots) {
  base::Result<base::Directory> debugfs = open_debugfs(roots);
  if (!debugfs) return debugfs.error();
  base::Result<base::Fd> stacks =
      base::open_file_at(*debugfs, std::string(kStacksFile));
  if (!stacks) {
    return explain(roots, stacks.error(),
                   "this kernel notes no owners of pages, or has no sums of "
                   "them by stack (since 6.9)");
  }
  PageOwnerStackReader reader(std::move(*debugfs));
  reader.has_handles_ =
      base::exists_at(reader.debugfs_, std::string(kHandlesFile)) &&
      base::exists_at(reader.debugfs_, std::string(kStacksHandlesFile));
  return reader;
}

base::Status PageOwnerStackReader::learn_stacks() {
  base::Status status =
      base::read_file_at(debugfs_, std::string(kStacksHandlesFile), text_);
  if (!status) return status;
  (void)parse::parse_page_owner_stacks(
      text_, [&](const model::PageOwnerStack& stack) {
        if (stack.handle) stacks_[*stack.handle] = std::string(stack.stack);
      });
  return base::Ok{};
}

bool PageOwnerStackReader::knows_all(std::string_view sums) const {
  bool knows = true;
  (void)parse::parse_page_owner_stacks(
      sums, [&](const model::PageOwnerStack& stack) {
        knows = knows && stack.handle && stacks_.contains(*stack.handle);
      });
  return knows;
}

// A stack that is noted between the two readings has no frames this time, and
// its pages are counted all the same.
base::Result<PageOwnerTrace> PageOwnerStackReader::read() {
  if (!has_handles_) {
    base::Status status =
        base::read_file_at(debugfs_, std::string(kStacksFile), text_);
    if (!status) return status.error();
    return trace_of_stacks(debugfs_, text_);
  }
  base::Result<std::string> sums =
      base::read_file_at(debugfs_, std::string(kHandlesFile));
  if (!sums) return sums.error();
  if (!knows_all(*sums)) {
    base::Status status = learn_stacks();
    if (!status) return status.error();
  }
  PageOwnerTraceMaker maker(base::realtime_ns());
  const parse::PageOwnerFaults faults =
      parse::parse_page_owner_stacks(*sums, [&](model::PageOwnerStack stack) {
        const auto known = stacks_.find(stack.handle.value_or(0));
        if (known != stacks_.end()) stack.stack = known->second;
        maker.add(stack);
      });
  note_threshold(debugfs_, maker);
  return maker.finish(faults);
}

}  // namespace tidemark::source
