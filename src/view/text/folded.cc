#include "view/text/folded.h"

#include <fmt/format.h>

#include "analysis/composition.h"
#include "analysis/process_use.h"
#include "base/escape.h"

namespace tidemark::view {

std::string folded_frame(std::string_view name) {
  std::string out;
  for (const char c : base::visible(name)) {
    if (c == ';') {
      out += "\\x3b";
    } else {
      out += c;
    }
  }
  return out;
}

std::string folded_stacks(const model::Sample& sample) {
  std::string out;
  for (const model::Process& process : sample.processes) {
    // One at a time, since a composition adds objects up over processes.
    model::Sample one;
    one.memory_devices = sample.memory_devices;
    one.machine = sample.machine;
    one.processes.push_back(process);
    const std::string root =
        fmt::format("{} ({})", folded_frame(analysis::display_name(process)),
                    process.id.pid);
    for (const analysis::Part& part : analysis::compose(one).parts) {
      if (part.bytes.pss == 0) continue;
      out += fmt::format("{};{};{} {}\n", root,
                         model::category_token(part.category),
                         folded_frame(part.name), part.bytes.pss);
    }
  }
  return out;
}

}  // namespace tidemark::view
