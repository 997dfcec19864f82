// A record of a graph while it is read: what of it was met, and in the end
// whether that is a whole one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/category.h"
#include "model/graph_record.h"

namespace tidemark::parse {

struct GraphReferenceDraft {
  std::optional<uint64_t> koid;
  bool is_mapped = false;
  bool is_held = false;
};

struct GraphObjectDraft {
  std::optional<uint64_t> koid;
  std::optional<std::string> name;
  std::optional<uint64_t> committed_bytes;
  std::optional<uint64_t> share_count;
  std::optional<uint64_t> swap_bytes;
  std::optional<model::Category> category;
};

// Members may come in any order, the type last: nothing can be judged before
// the record has ended.
struct GraphDraft {
  std::optional<std::string> type;
  std::optional<std::string> id;
  std::optional<std::string> parent;
  std::optional<std::string> name;
  std::optional<std::string> timestamp;
  std::optional<uint64_t> size_bytes;
  std::optional<uint64_t> unread_bytes;
  std::optional<uint64_t> private_bytes;
  std::optional<uint64_t> pss_bytes;
  std::optional<uint64_t> swap_pss_bytes;
  std::optional<uint64_t> charged_bytes;
  std::optional<uint64_t> pid;
  std::vector<GraphObjectDraft> objects;
  std::vector<GraphReferenceDraft> references;
  std::vector<std::string> notes;
  bool is_unknown = false;
  std::string wrong;  // the first member that is of another type
};

// Makes the record of it, or returns the sentence that says why it is none.
// Leaves the draft empty-handed.
std::string make_graph_record(GraphDraft& draft, model::GraphRecordKind kind,
                              model::GraphRecord& record);

}  // namespace tidemark::parse
