#include "source/probe.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "source/probe_parts.h"
#include "source/probe_target.h"

namespace tidemark::source {
namespace {

using model::Capability;
using model::CapabilityState;

Capability answer(const Question& question, CapabilityState state,
                  std::string detail) {
  Capability row;
  row.name = question.name;
  row.gives = question.gives;
  row.tier = question.tier;
  row.state = state;
  row.detail = std::move(detail);
  row.needs = question.needs;
  return row;
}

// A file that is not in a copy says nothing about the machine it came from.
Capability look_in_copy(const ProbeContext& context, const Question& question) {
  if (question.probe != probe_proc_file) {
    return not_tried(question, "only the running kernel can answer");
  }
  Capability row = probe_proc_file(context, question);
  if (row.state == CapabilityState::Works) return row;
  return not_tried(question, row.detail);
}

}  // namespace

Capability works(const Question& question, std::string detail) {
  return answer(question, CapabilityState::Works, std::move(detail));
}

Capability missing(const Question& question, std::string detail) {
  Capability row =
      answer(question, CapabilityState::Missing, std::move(detail));
  row.grant = question.grant_if_missing;
  return row;
}

Capability denied(const Question& question, std::string detail) {
  return answer(question, CapabilityState::Denied, std::move(detail));
}

Capability not_tried(const Question& question, std::string why) {
  return answer(question, CapabilityState::NotTried, std::move(why));
}

Capability failed(const Question& question, const base::Error& error) {
  switch (error.kind) {
    case base::ErrorKind::NotFound:
    case base::ErrorKind::Unsupported:
      return missing(question, error.what);
    case base::ErrorKind::Denied:
      return denied(question, error.what);
    default:
      return not_tried(question, error.what);
  }
}

Capability failed_errno(const Question& question, std::string what, int err) {
  // How kernels say "I do not know this call": an unknown ioctl is ENOTTY,
  // an unknown command or attribute of bpf and perf EINVAL or E2BIG.
  const bool is_unknown = err == ENOTTY || err == EINVAL || err == E2BIG ||
                          err == ENODEV || err == EPROTONOSUPPORT ||
                          err == EAFNOSUPPORT;
  base::Error error = base::fail_errno(std::move(what), err);
  if (is_unknown) return missing(question, error.what);
  return failed(question, error);
}

base::Result<std::string> read_start_at(const base::Directory& directory,
                                        const std::string& name,
                                        size_t byte_count) {
  base::Result<base::Fd> fd = base::open_file_at(directory, name);
  if (!fd) return fd.error();
  std::string start(byte_count, '\0');
  ssize_t got = -1;
  do {
    got = ::read(fd->get(), start.data(), start.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return base::fail_errno(directory.join(name), errno);
  start.resize(static_cast<size_t>(got));
  return start;
}

Capability probe_proc_file(const ProbeContext& context,
                           const Question& question) {
  const base::Directory& proc = context.roots.proc;
  const std::string name(question.file);
  base::Result<std::string> start = read_start_at(proc, name);
  if (!start) return failed(question, start.error());
  return works(question, proc.join(name));
}

std::vector<Capability> probe_capabilities(const Roots& roots) {
  Targets targets = find_targets(roots);
  const OtherUserChild child = roots.is_live && targets.others.empty()
                                   ? OtherUserChild::start()
                                   : OtherUserChild::none();
  if (child.pid() != 0) {
    targets.others.push_back(child.pid());
  } else if (targets.others.empty()) {
    targets.others = targets.guarded;
  }
  const TouchedPage page;
  const ProbeContext context{roots, targets, page};
  std::vector<Capability> rows;
  for (const Question& question : questions()) {
    rows.push_back(roots.is_live ? question.probe(context, question)
                                 : look_in_copy(context, question));
  }
  return rows;
}

base::Result<std::string> own_binary_path() {
  base::Result<base::Directory> self = base::open_directory("/proc/self");
  if (!self) return self.error();
  return base::read_link_at(*self, "exe");
}

}  // namespace tidemark::source
