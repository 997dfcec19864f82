// What the command line of a virtual machine monitor says of its VM: how much
// RAM, backed by what, its name, and where it can be asked. Whole arguments are
// looked at, never the joined line, in which a path may look like an option. An
// argument that cannot be read leaves its field empty: the monitor has accepted
// it, so it is we who do not know it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/guest_ram.h"
#include "model/vm.h"

namespace tidemark::parse {

struct VmArguments {
  std::string name;
  std::string uuid;
  model::RamHints ram;
  // Control sockets as written, relative ones too; in their order.
  std::vector<std::string> control_paths;
  // The control channel came as an open descriptor: whoever started the VM
  // (libvirt does so) is the one to ask.
  bool control_is_inherited = false;
  // Of the balloon device, where the command line has one.
  std::optional<bool> deflates_on_oom;
  std::optional<bool> reports_free_pages;
  // False for runs of the program that start no VM: `crosvm stop`, `crosvm
  // device`.
  bool starts_vm = true;
  bool operator==(const VmArguments&) const = default;
};

// `command_line` has arguments parted by NUL.
VmArguments parse_vm_arguments(model::VmKind kind,
                               std::string_view command_line);

}  // namespace tidemark::parse
