#include "model/trace.h"

#include <array>
#include <utility>

namespace tidemark::model {
namespace {

constexpr std::array<std::pair<TraceBackend, std::string_view>, 4> kBackends = {
    {{TraceBackend::Bpf, "bpf"},
     {TraceBackend::Perf, "perf"},
     {TraceBackend::Ftrace, "ftrace"},
     {TraceBackend::PageOwner, "pageowner"}}};

}  // namespace

std::string_view trace_backend_token(TraceBackend backend) {
  for (const auto& [value, token] : kBackends) {
    if (value == backend) return token;
  }
  return "?";
}

std::optional<TraceBackend> trace_backend_from_token(std::string_view token) {
  for (const auto& [value, name] : kBackends) {
    if (name == token) return value;
  }
  return std::nullopt;
}

}  // namespace tidemark::model
