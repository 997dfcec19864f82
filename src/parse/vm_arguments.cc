#include "parse/vm_arguments.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"

namespace tidemark::parse {
namespace {

using model::VmKind;
using Words = std::vector<std::string_view>;

constexpr uint64_t kMib = uint64_t{1} << 20;

// "256", "4G", "2097152k". What a bare number counts is the program's choice.
std::optional<uint64_t> ram_size(std::string_view text, uint64_t bare_unit) {
  if (text.empty()) return std::nullopt;
  constexpr std::string_view kSuffixes = "bkmgt";
  uint64_t unit = bare_unit;
  const char last = static_cast<char>(text.back() | 0x20);
  const size_t power = kSuffixes.find(last);
  if (power != std::string_view::npos) {
    unit = uint64_t{1} << (10 * power);
    text.remove_suffix(1);
  }
  const std::optional<uint64_t> number = base::parse_u64(text);
  if (!number || *number > std::numeric_limits<int64_t>::max() / unit) {
    return std::nullopt;
  }
  return *number * unit;
}

// "socket,id=mon,path=/run/a,,b,server=on": a comma in a value is doubled. What
// has no name comes first, under the name "".
std::map<std::string, std::string> properties_of(std::string_view text) {
  std::map<std::string, std::string> found;
  std::string part;
  const auto keep = [&] {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) {
      found.emplace("", part);
    } else {
      found.emplace(part.substr(0, equals), part.substr(equals + 1));
    }
    part.clear();
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ',') {
      part += text[i];
    } else if (i + 1 < text.size() && text[i + 1] == ',') {
      part += text[i++];
    } else {
      keep();
    }
  }
  keep();
  return found;
}

// The same of the form {"qom-type":"memory-backend-ram","size":…}, which
// libvirt writes.
std::map<std::string, std::string> properties_of_json(std::string_view text) {
  std::map<std::string, std::string> found;
  const nlohmann::json root =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return found;
  for (const auto& [name, value] : root.items()) {
    if (value.is_string()) {
      found[name] = value.get_ref<const std::string&>();
    } else if (value.is_boolean()) {
      found[name] = value.get<bool>() ? "on" : "off";
    } else if (value.is_number_unsigned()) {
      found[name] = std::to_string(value.get<uint64_t>());
    }
  }
  for (const char* name : {"qom-type", "backend", "driver"})
    if (found[""].empty()) found[""] = found[name];
  return found;
}

std::map<std::string, std::string> any_properties(std::string_view text) {
  return text.starts_with('{') ? properties_of_json(text) : properties_of(text);
}

std::string value_of(const std::map<std::string, std::string>& properties,
                     const char* name) {
  const auto found = properties.find(name);
  return found == properties.end() ? "" : found->second;
}

struct QemuChannels {
  struct Socket {
    std::string path;
    bool is_inherited = false;
  };
  std::map<std::string, Socket> sockets;  // by the id of their chardev
  std::vector<std::string> monitors;      // chardevs that speak QMP
};

void take_qemu_memory(std::string_view value, VmArguments& arguments) {
  const auto properties = properties_of(value);
  const std::string size = value_of(properties, "size");
  std::optional<uint64_t> bytes =
      ram_size(size.empty() ? value_of(properties, "") : size, kMib);
  if (!bytes) return;
  constexpr uint64_t kAlignment = 8192;  // QEMU rounds up to that
  arguments.ram.total_bytes =
      (*bytes + kAlignment - 1) / kAlignment * kAlignment;
}

void take_qemu_object(std::string_view value, VmArguments& arguments) {
  const auto properties = any_properties(value);
  if (!value_of(properties, "").starts_with("memory-backend-")) return;
  if (const auto bytes = ram_size(value_of(properties, "size"), 1)) {
    arguments.ram.part_bytes.push_back(*bytes);
  }
  std::string path = value_of(properties, "mem-path");
  if (!path.empty()) arguments.ram.paths.push_back(std::move(path));
}

void take_qemu_name(std::string_view value, VmArguments& arguments) {
  const auto properties = properties_of(value);
  arguments.name = value_of(properties, "guest");
  if (arguments.name.empty()) arguments.name = value_of(properties, "");
}

void take_qemu_qmp(std::string_view value, VmArguments& arguments,
                   QemuChannels& channels) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kChardev = "chardev:";
  if (value.starts_with(kUnix)) {
    const auto properties = properties_of(value.substr(kUnix.size()));
    std::string path = value_of(properties, "");
    if (path.empty()) path = value_of(properties, "path");
    if (!path.empty()) arguments.control_paths.push_back(std::move(path));
  } else if (value.starts_with(kChardev)) {
    channels.monitors.emplace_back(value.substr(kChardev.size()));
  }
}

void take_qemu_chardev(std::string_view value, QemuChannels& channels) {
  const auto properties = any_properties(value);
  if (value_of(properties, "") != "socket") return;
  channels.sockets[value_of(properties, "id")] = {
      value_of(properties, "path"), !value_of(properties, "fd").empty()};
}

void take_qemu_monitor(std::string_view value, QemuChannels& channels) {
  const auto properties = any_properties(value);
  if (value_of(properties, "mode") != "control") return;
  const std::string named = value_of(properties, "chardev");
  channels.monitors.push_back(named.empty() ? value_of(properties, "") : named);
}

void take_qemu_device(std::string_view value, VmArguments& arguments) {
  const auto properties = any_properties(value);
  if (!value_of(properties, "").starts_with("virtio-balloon")) return;
  arguments.deflates_on_oom = value_of(properties, "deflate-on-oom") == "on";
  arguments.reports_free_pages =
      value_of(properties, "free-page-reporting") == "on";
}

void take_qemu_option(std::string_view option, std::string_view value,
                      VmArguments& arguments, QemuChannels& channels) {
  if (option == "m") {
    take_qemu_memory(value, arguments);
  } else if (option == "object") {
    take_qemu_object(value, arguments);
  } else if (option == "mem-path") {
    arguments.ram.paths.emplace_back(value);
  } else if (option == "name") {
    take_qemu_name(value, arguments);
  } else if (option == "uuid") {
    arguments.uuid = value;
  } else if (option == "qmp" || option == "qmp-pretty") {
    take_qemu_qmp(value, arguments, channels);
  } else if (option == "chardev") {
    take_qemu_chardev(value, channels);
  } else if (option == "device") {
    take_qemu_device(value, arguments);
  } else if (option == "mon") {
    take_qemu_monitor(value, channels);
  }
}

// QEMU takes one dash and two alike.
void take_qemu(const Words& words, VmArguments& arguments) {
  constexpr uint64_t kUsualBytes = 128 * kMib;  // without -m
  arguments.ram.total_bytes = kUsualBytes;
  QemuChannels channels;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    std::string_view option = words[i];
    if (!option.starts_with('-')) continue;
    option.remove_prefix(option.starts_with("--") ? 2 : 1);
    take_qemu_option(option, words[i + 1], arguments, channels);
  }
  for (const std::string& monitor : channels.monitors) {
    const auto found = channels.sockets.find(monitor);
    if (found == channels.sockets.end()) continue;
    if (found->second.is_inherited) arguments.control_is_inherited = true;
    if (!found->second.path.empty()) {
      arguments.control_paths.push_back(found->second.path);
    }
  }
}

// The value of "--name VALUE" or "--name=VALUE" at words[i]; empty if it is
// another option.
std::optional<std::string_view> option_value(const Words& words, size_t i,
                                             std::string_view name) {
  const std::string_view word = words[i];
  if (word == name) {
    if (i + 1 < words.size()) return words[i + 1];
    return std::nullopt;
  }
  if (word.size() > name.size() && word.starts_with(name) &&
      word[name.size()] == '=') {
    return word.substr(name.size() + 1);
  }
  return std::nullopt;
}

std::optional<std::string_view> any_option(
    const Words& words, size_t i,
    std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    if (auto value = option_value(words, i, name)) return value;
  }
  return std::nullopt;
}

void take_size_property(std::string_view value, uint64_t bare_unit,
                        VmArguments& arguments) {
  const auto properties = properties_of(value);
  const std::string size = value_of(properties, "size");
  arguments.ram.total_bytes =
      ram_size(size.empty() ? value_of(properties, "") : size, bare_unit);
}

void take_crosvm(const Words& words, VmArguments& arguments) {
  arguments.starts_vm = std::ranges::any_of(words, [](std::string_view word) {
    return word == "run" || word == "run-mp";
  });
  for (size_t i = 1; i < words.size(); ++i) {
    if (auto socket = any_option(words, i, {"--socket", "-s"})) {
      arguments.control_paths.emplace_back(*socket);
    } else if (auto memory = any_option(words, i, {"--mem", "-m"})) {
      take_size_property(*memory, kMib, arguments);
    } else if (auto name = option_value(words, i, "--name")) {
      arguments.name = *name;
    }
  }
}

void take_firecracker(const Words& words, VmArguments& arguments) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--") break;  // what a jailer passes on
    if (auto socket = option_value(words, i, "--api-sock")) {
      arguments.control_paths.emplace_back(*socket);
    } else if (auto id = option_value(words, i, "--id")) {
      arguments.name = *id;
    }
  }
  const bool has_none = std::ranges::find(words, "--no-api") != words.end();
  if (arguments.control_paths.empty() && !has_none) {
    arguments.control_paths.emplace_back("/run/firecracker.socket");
  }
}

void take_cloud_hypervisor(const Words& words, VmArguments& arguments) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (auto socket = option_value(words, i, "--api-socket")) {
      const auto properties = properties_of(*socket);
      std::string path = value_of(properties, "path");
      if (path.empty()) path = value_of(properties, "");
      arguments.control_is_inherited = !value_of(properties, "fd").empty();
      if (!path.empty()) arguments.control_paths.push_back(std::move(path));
    } else if (auto memory = option_value(words, i, "--memory")) {
      take_size_property(*memory, 1, arguments);
    }
  }
}

}  // namespace

VmArguments parse_vm_arguments(VmKind kind, std::string_view command_line) {
  VmArguments arguments;
  const Words words = base::split(command_line, '\0');
  switch (kind) {
    case VmKind::Qemu:
      take_qemu(words, arguments);
      break;
    case VmKind::Crosvm:
      take_crosvm(words, arguments);
      break;
    case VmKind::Firecracker:
      take_firecracker(words, arguments);
      break;
    case VmKind::CloudHypervisor:
      take_cloud_hypervisor(words, arguments);
      break;
    case VmKind::Other:
      break;
  }
  return arguments;
}

}  // namespace tidemark::parse
