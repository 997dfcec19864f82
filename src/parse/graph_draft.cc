#include "parse/graph_draft.h"

#include <limits>
#include <unordered_map>
#include <utility>

namespace tidemark::parse {
namespace {

using model::GraphRecord;
using model::GraphRecordKind;
using model::GraphRecordObject;

// The objects of a process, each once, with how it refers to them; a sentence
// when they do not belong together. Without references there are none: the
// original reader then draws the process by its sums.
std::string take_objects(GraphDraft& draft,
                         std::vector<GraphRecordObject>& target) {
  if (draft.references.empty()) return "";
  struct Use {
    bool is_mapped = false;
    bool is_seen = false;
  };
  std::unordered_map<uint64_t, Use> uses;
  for (const GraphReferenceDraft& reference : draft.references) {
    if (!reference.koid) return "a reference has no 'vmo_koid'";
    if (!reference.is_mapped && !reference.is_held) {
      return "the reference to object " + std::to_string(*reference.koid) +
             " is via nothing";
    }
    Use& use = uses[*reference.koid];
    use.is_mapped = use.is_mapped || reference.is_mapped;
  }
  for (GraphObjectDraft& object : draft.objects) {
    if (!object.koid) return "an object has no 'koid'";
    const std::string words = "object " + std::to_string(*object.koid);
    if (!object.name) return words + " has no 'name'";
    if (!object.committed_bytes) return words + " has no 'committed_bytes'";
    if (!object.share_count) return words + " has no 'share_count'";
    const auto use = uses.find(*object.koid);
    if (use == uses.end()) return "there is no reference to " + words;
    if (use->second.is_seen) continue;
    use->second.is_seen = true;
    if (use->second.is_mapped && *object.share_count == 0) {
      return words + " is mapped, and shared by nobody";
    }
    target.push_back({*object.koid, std::move(*object.name),
                      *object.committed_bytes, *object.share_count,
                      object.swap_bytes, object.category,
                      use->second.is_mapped});
  }
  for (const GraphReferenceDraft& reference : draft.references) {
    if (!uses[*reference.koid].is_seen) {
      return "object " + std::to_string(*reference.koid) + " is not there";
    }
  }
  return "";
}

}  // namespace

std::string make_graph_record(GraphDraft& draft, GraphRecordKind kind,
                              GraphRecord& record) {
  if (!draft.wrong.empty()) return draft.wrong;
  if (!draft.id) return "it has no 'id'";
  if (!draft.parent) return "it has no 'parent'";
  if (!draft.name) return "it has no 'name'";
  record.kind = kind;
  record.id = std::move(*draft.id);
  record.parent = std::move(*draft.parent);
  record.name = std::move(*draft.name);
  if (kind == GraphRecordKind::Kernel) {
    if (!draft.size_bytes) return "it has no 'size_bytes'";
    record.size_bytes = *draft.size_bytes;
    record.unread_bytes = draft.unread_bytes.value_or(0);
  }
  if (kind == GraphRecordKind::Job) record.charged_bytes = draft.charged_bytes;
  if (kind != GraphRecordKind::Process) return "";
  if (!draft.private_bytes) return "it has no 'private_bytes'";
  if (!draft.pss_bytes) return "it has no 'pss_bytes'";
  record.private_bytes = *draft.private_bytes;
  record.pss_bytes = *draft.pss_bytes;
  record.swap_pss_bytes = draft.swap_pss_bytes;
  record.is_unknown = draft.is_unknown;
  if (draft.pid && *draft.pid <= std::numeric_limits<int32_t>::max()) {
    record.pid = static_cast<int32_t>(*draft.pid);
  }
  return take_objects(draft, record.objects);
}

}  // namespace tidemark::parse
