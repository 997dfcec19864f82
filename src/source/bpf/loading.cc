#include "source/bpf/loading.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <malloc.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <utility>

namespace tidemark::source {
namespace {

constexpr int kSmallBytes = 128 << 10;
constexpr int kLargeBytes = 32 << 20;

// libbpf tells its troubles only by printing; the last warning is the reason.
std::string& last_warning() {
  static std::string text;
  return text;
}

// NOLINTNEXTLINE(cert-dcl50-cpp): the signature is libbpf's
int keep_warning(libbpf_print_level level, const char* format, va_list list) {
  if (level != LIBBPF_WARN) return 0;
  std::array<char, 512> line{};
  const int length = std::vsnprintf(line.data(), line.size(), format, list);
  std::string_view text(line.data());
  // The verifier's log follows over many lines; the first says enough.
  text = text.substr(0, text.find('\n'));
  if (last_warning().empty() && !text.empty()) last_warning() = text;
  return length;
}

}  // namespace

BpfLoading::BpfLoading() {
  mallopt(M_MMAP_THRESHOLD, kSmallBytes);
  libbpf_set_print(keep_warning);
  last_warning().clear();
}

BpfLoading::~BpfLoading() {
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
}

uint64_t recursion_misses(std::initializer_list<int> program_fds) {
  uint64_t misses = 0;
  for (int fd : program_fds) {
    bpf_prog_info info{};
    uint32_t size = sizeof info;
    if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0) {
      misses += info.recursion_misses;
    }
  }
  return misses;
}

// The warning says more than the number it comes with (ESRCH for a missing
// BTF), except where rights are missing: then it is about the first thing that
// was refused, which need not have mattered. EACCES is not that: the verifier
// uses it for programs it does not like.
base::Error bpf_error(const std::string& doing, int err) {
  std::string why = std::exchange(last_warning(), {});
  const base::Error error = base::fail_errno(doing, err);
  if (err == EPERM) {
    return base::fail(
        base::ErrorKind::Denied, error.what,
        "run as root, or grant CAP_BPF and CAP_PERFMON; see `tidemark doctor`");
  }
  constexpr std::string_view kPrefix = "libbpf: ";
  if (why.starts_with(kPrefix)) why.erase(0, kPrefix.size());
  return base::fail(base::ErrorKind::Unsupported,
                    why.empty() ? error.what : doing + ": " + why);
}

}  // namespace tidemark::source
