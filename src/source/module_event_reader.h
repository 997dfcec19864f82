// Takes what is told of modules that come and go out of the records of the
// kernel's events, which are the same whether they come through perf or a trace
// buffer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file.h"
#include "parse/trace_format.h"
#include "source/event_account.h"

namespace tidemark::source {

class ModuleEventReader {
 public:
  static constexpr const char* kLoad = "module/module_load";
  static constexpr const char* kFree = "module/module_free";

  ModuleEventReader() = default;
  // A kernel that is built without modules has no events of them.
  static ModuleEventReader make(const base::Directory& tracefs);

  // Both events are there, or none is asked for.
  bool sees_modules() const { return load_.id != 0; }
  // Of ModuleLoad and ModuleFree; 0: there is none, or it is another kind's.
  uint32_t event_id(PageEvent::Kind kind) const;
  std::string name_in(PageEvent::Kind kind, std::string_view record) const;

 private:
  struct Layout {
    uint32_t id = 0;
    parse::TraceField name;
  };
  Layout load_;
  Layout free_;
};

}  // namespace tidemark::source
