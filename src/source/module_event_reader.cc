#include "source/module_event_reader.h"

#include "source/tracefs.h"

namespace tidemark::source {

ModuleEventReader ModuleEventReader::make(const base::Directory& tracefs) {
  ModuleEventReader reader;
  Layout found[2];
  const char* const names[] = {kLoad, kFree};
  for (int i = 0; i < 2; ++i) {
    base::Result<parse::TraceFormat> format =
        read_trace_format(tracefs, names[i]);
    const parse::TraceField* name = format ? format->find("name") : nullptr;
    if (name == nullptr) return reader;
    found[i] = {format->id, *name};
  }
  reader.load_ = found[0];
  reader.free_ = found[1];
  return reader;
}

uint32_t ModuleEventReader::event_id(PageEvent::Kind kind) const {
  if (kind == PageEvent::Kind::ModuleLoad) return load_.id;
  return kind == PageEvent::Kind::ModuleFree ? free_.id : 0;
}

std::string ModuleEventReader::name_in(PageEvent::Kind kind,
                                       std::string_view record) const {
  const Layout& layout = kind == PageEvent::Kind::ModuleLoad ? load_ : free_;
  return std::string(parse::read_dynamic_text_field(record, layout.name));
}

}  // namespace tidemark::source
