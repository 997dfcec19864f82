#include "analysis/cgroup_name.h"

#include <optional>
#include <vector>

#include "base/text.h"

namespace tidemark::analysis {
namespace {

constexpr size_t kShortId = 12;  // what docker ps shows

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Container ids are 64 hex digits; anything of 32 or more is taken for one.
bool is_container_id(std::string_view text) {
  return text.size() >= 32 && is_hex(text);
}

std::string undo_systemd_escape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x') {
      std::optional<uint64_t> byte = base::parse_hex(text.substr(i + 2, 2));
      if (byte) {
        plain += static_cast<char>(*byte);
        i += 3;
        continue;
      }
    }
    plain += text[i];
  }
  return plain;
}

struct ScopePrefix {
  std::string_view prefix;   // of "PREFIX-ID.scope"
  std::string_view runtime;  // what people call it
};
constexpr ScopePrefix kScopes[] = {
    {"docker-", "docker"},   {"cri-containerd-", "containerd"},
    {"crio-", "cri-o"},      {"libpod-", "podman"},
    {"nerdctl-", "nerdctl"},
};

// "kubepods-burstable-pod1b2c….slice" and plain "pod1b2c-…".
std::string pod_of(std::string_view component) {
  if (component.ends_with(".slice")) component.remove_suffix(6);
  const bool is_kube = component.starts_with("kubepods");
  const size_t at = is_kube ? component.rfind("-pod") : 0;
  if (at == std::string_view::npos) return {};
  std::string_view pod = component.substr(is_kube ? at + 1 : 0);
  if (!pod.starts_with("pod")) return {};
  std::string id(pod.substr(3));
  // A uid with dashes, or the 32 digits of a static pod's hash; a unit such as
  // podman-auto-update.service is neither.
  if (id.size() < 32 ||
      id.find_first_not_of("0123456789abcdef-_") != std::string::npos) {
    return {};
  }
  for (char& c : id) {
    if (c == '_') c = '-';  // systemd slices cannot hold the uid's dashes
  }
  return "pod " + id;
}

std::string container_of(std::string_view parent, std::string_view component) {
  std::string_view id = component;
  if (id.ends_with(".scope")) id.remove_suffix(6);
  for (const ScopePrefix& scope : kScopes) {
    if (!id.starts_with(scope.prefix)) continue;
    const std::string_view rest = id.substr(scope.prefix.size());
    if (is_container_id(rest)) {
      return std::string(scope.runtime) + " " +
             std::string(rest.substr(0, kShortId));
    }
  }
  if (is_container_id(component)) {
    const std::string runtime =
        parent.empty() || is_container_id(parent) || parent.starts_with("pod")
            ? "container"
            : std::string(parent);
    return runtime + " " + std::string(component.substr(0, kShortId));
  }
  if (parent == "lxc" || parent == "lxc.payload") {
    return "lxc " + std::string(component);
  }
  constexpr std::string_view kLxcPayload = "lxc.payload.";
  if (component.starts_with(kLxcPayload)) {
    return "lxc " + std::string(component.substr(kLxcPayload.size()));
  }
  constexpr std::string_view kMachine = "machine-";
  if (id.starts_with(kMachine) && component.ends_with(".scope")) {
    return "machine " + undo_systemd_escape(id.substr(kMachine.size()));
  }
  return pod_of(component);
}

}  // namespace

std::string cgroup_name(std::string_view path) {
  const std::string_view component = base::base_name(path);
  if (component.empty()) return "/";
  std::string_view above = path.substr(0, path.size() - component.size());
  while (above.ends_with('/'))
    above.remove_suffix(1);
  std::string container = container_of(base::base_name(above), component);
  if (!container.empty()) return container;
  return undo_systemd_escape(component);
}

std::string container_name(std::string_view path) {
  std::string found;
  std::string_view parent;
  for (std::string_view component : base::split(path, '/')) {
    std::string name = container_of(parent, component);
    // The innermost wins: a container inside its pod.
    if (!name.empty()) found = std::move(name);
    parent = component;
  }
  return found;
}

}  // namespace tidemark::analysis
