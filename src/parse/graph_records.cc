#include "parse/graph_records.h"

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "parse/graph_draft.h"
#include "parse/json_lines.h"

namespace tidemark::parse {
namespace {

using Json = nlohmann::json;
using model::GraphRecord;
using model::GraphRecordKind;

// No record of ours nests deeper than five; the library keeps a word for each
// level, and a file of nothing but brackets must not cost gigabytes.
constexpr size_t kDeepest = 64;
constexpr size_t kShownBytes = 80;

// What the parser is inside of.
enum class Place : uint8_t {
  List,
  Record,
  Objects,
  Object,
  References,
  Reference,
  Via,
  Notes,
  Unknown,
  Elsewhere,  // in something we do not use
};

// A value that is neither list nor object.
struct Scalar {
  enum class Type : uint8_t { Null, Number, Text, Other };
  Type type = Type::Other;
  uint64_t number = 0;
  std::string text;
};

struct TextMember {
  std::string_view name;
  std::optional<std::string> GraphDraft::*target;
};
constexpr std::array<TextMember, 5> kTexts = {
    {{"type", &GraphDraft::type},
     {"id", &GraphDraft::id},
     {"parent", &GraphDraft::parent},
     {"name", &GraphDraft::name},
     {"timestamp", &GraphDraft::timestamp}}};

struct NumberMember {
  std::string_view name;
  std::optional<uint64_t> GraphDraft::*target;
};
constexpr std::array<NumberMember, 7> kNumbers = {
    {{"size_bytes", &GraphDraft::size_bytes},
     {"unread_bytes", &GraphDraft::unread_bytes},
     {"private_bytes", &GraphDraft::private_bytes},
     {"pss_bytes", &GraphDraft::pss_bytes},
     {"swap_pss_bytes", &GraphDraft::swap_pss_bytes},
     {"charged_bytes", &GraphDraft::charged_bytes},
     {"pid", &GraphDraft::pid}}};

struct ObjectNumber {
  std::string_view name;
  std::optional<uint64_t> GraphObjectDraft::*target;
};
constexpr std::array<ObjectNumber, 4> kObjectNumbers = {
    {{"koid", &GraphObjectDraft::koid},
     {"committed_bytes", &GraphObjectDraft::committed_bytes},
     {"share_count", &GraphObjectDraft::share_count},
     {"swap_pss_bytes", &GraphObjectDraft::swap_bytes}}};

std::string shown(std::string_view text) {
  return base::visible(text.substr(0, kShownBytes));
}

std::optional<GraphRecordKind> kind_of(std::string_view type) {
  if (type == "kernel") return GraphRecordKind::Kernel;
  if (type == "j") return GraphRecordKind::Job;
  if (type == "p") return GraphRecordKind::Process;
  if (type == "t") return GraphRecordKind::Thread;
  return std::nullopt;
}

// Takes the values as the parser meets them: a tree of them would be ten times
// the text. The names of the functions are the library's.
class RecordTaker {
 public:
  explicit RecordTaker(const size_t* line) : line_(line) {}

  bool null() { return take({Scalar::Type::Null, 0, {}}); }
  bool boolean(bool /*value*/) { return take({}); }
  bool number_integer(int64_t /*negative*/) { return take({}); }
  bool number_unsigned(uint64_t value) {
    return take({Scalar::Type::Number, value, {}});
  }
  bool number_float(double /*value*/, const std::string& /*text*/) {
    return take({});
  }
  bool binary(const Json::binary_t& /*value*/) { return take({}); }
  bool string(std::string& text) {
    return take({Scalar::Type::Text, 0, std::move(text)});
  }
  bool key(const std::string& name) {
    key_ = name;
    if (!places_.empty() && places_.back() == Place::Unknown &&
        name == "pss_bytes") {
      draft_.is_unknown = true;
    }
    return true;
  }
  bool start_array(size_t /*count*/) { return enter(true); }
  bool start_object(size_t /*count*/) { return enter(false); }
  bool end_array() {
    places_.pop_back();
    return true;
  }
  bool end_object() {
    const Place place = places_.back();
    places_.pop_back();
    return place != Place::Record || finish_record();
  }
  template <typename Exception>
  bool parse_error(size_t /*byte*/, const std::string& /*token*/,
                   const Exception& /*error*/) {
    return stop("this is not whole JSON");
  }

  model::GraphRecords graph;
  std::optional<base::Error> error;

 private:
  bool stop(const std::string& what) {
    error = base::fail(base::ErrorKind::Malformed,
                       "graph: line " + std::to_string(*line_) + ": " + what,
                       "the JSON of `tidemark graph` or of memgraph is wanted");
    return false;
  }

  void note_wrong(const std::string& should) {
    if (draft_.wrong.empty()) {
      draft_.wrong = "'" + shown(key_) + "' is no " + should;
    }
  }

  // Where a list or an object begins inside of a record.
  Place below(Place place, bool is_list) {
    if (place == Place::Record) {
      if (key_ == "vmos" && is_list) return Place::Objects;
      if (key_ == "vmo_refs" && is_list) return Place::References;
      if (key_ == "notes" && is_list) return Place::Notes;
      if (key_ == "unknown" && !is_list) return Place::Unknown;
    }
    if (place == Place::Objects && !is_list) {
      draft_.objects.emplace_back();
      return Place::Object;
    }
    if (place == Place::References && !is_list) {
      draft_.references.emplace_back();
      return Place::Reference;
    }
    if (place == Place::Reference && key_ == "via" && is_list) {
      return Place::Via;
    }
    refuse(place);
    return Place::Elsewhere;
  }

  // Something else than should be there.
  void refuse(Place place) {
    switch (place) {
      case Place::Record:
        if (key_ == "vmos" || key_ == "vmo_refs") note_wrong("list");
        take_member({});
        break;
      case Place::Objects:
      case Place::References:
        key_ = place == Place::Objects ? "vmos" : "vmo_refs";
        note_wrong("list of objects");
        break;
      case Place::Object:
        take_object_member({});
        break;
      case Place::Reference:
        take_reference_member({});
        break;
      case Place::Via:
        note_wrong("list of words");
        break;
      default:
        break;
    }
  }

  bool enter(bool is_list) {
    if (places_.size() >= kDeepest) return stop("it is nested too deep");
    if (places_.empty()) {
      if (!is_list) return stop("a graph is a list of records");
      places_.push_back(Place::List);
      return true;
    }
    const Place place = places_.back();
    if (place == Place::List) {
      if (is_list) return stop("a record is an object, not a list");
      draft_ = {};
      places_.push_back(Place::Record);
      return true;
    }
    places_.push_back(below(place, is_list));
    return true;
  }

  bool take(Scalar value) {
    if (places_.empty()) return stop("a graph is a list of records");
    switch (places_.back()) {
      case Place::List:
        return stop("a record is an object");
      case Place::Record:
        take_member(std::move(value));
        break;
      case Place::Object:
        take_object_member(std::move(value));
        break;
      case Place::Reference:
        take_reference_member(value);
        break;
      case Place::Via:
        take_via(value);
        break;
      case Place::Notes:
        if (value.type == Scalar::Type::Text) {
          draft_.notes.push_back(std::move(value.text));
        }
        break;
      case Place::Objects:
      case Place::References:
        refuse(places_.back());
        break;
      case Place::Unknown:
      case Place::Elsewhere:
        break;
    }
    return true;
  }

  void take_member(Scalar value) {
    for (const TextMember& member : kTexts) {
      if (member.name != key_) continue;
      if (value.type != Scalar::Type::Text) return note_wrong("text");
      draft_.*member.target = std::move(value.text);
      return;
    }
    for (const NumberMember& member : kNumbers) {
      if (member.name == key_) return take_number(value, draft_.*member.target);
    }
    if ((key_ == "vmos" || key_ == "vmo_refs") &&
        value.type != Scalar::Type::Null) {
      note_wrong("list");
    }
  }

  void take_object_member(Scalar value) {
    GraphObjectDraft& object = draft_.objects.back();
    for (const ObjectNumber& member : kObjectNumbers) {
      if (member.name == key_) return take_number(value, object.*member.target);
    }
    const bool is_text = value.type == Scalar::Type::Text;
    if (key_ == "name") {
      if (!is_text) return note_wrong("text");
      object.name = std::move(value.text);
    } else if (key_ == "category" && is_text) {
      object.category = model::category_from_token(value.text);
    }
  }

  void take_reference_member(const Scalar& value) {
    if (key_ == "vmo_koid") {
      take_number(value, draft_.references.back().koid);
    } else if (key_ == "via") {
      note_wrong("list of words");
    }
  }

  void take_via(const Scalar& value) {
    GraphReferenceDraft& reference = draft_.references.back();
    if (value.type != Scalar::Type::Text) return note_wrong("list of words");
    if (value.text == "MAPPING") reference.is_mapped = true;
    if (value.text == "HANDLE") reference.is_held = true;
  }

  // null is how what is not known is written.
  void take_number(const Scalar& value, std::optional<uint64_t>& target) {
    if (value.type == Scalar::Type::Null) {
      target.reset();
    } else if (value.type == Scalar::Type::Number) {
      target = value.number;
    } else {
      note_wrong("whole number from zero on");
    }
  }

  bool finish_record() {
    if (!draft_.type) return stop("a record has no 'type'");
    // Reserved for what is no part of the tree.
    if (draft_.type->starts_with("__")) {
      if (*draft_.type == "__META") {
        graph.timestamp = draft_.timestamp.value_or("");
        graph.notes = std::move(draft_.notes);
      }
      return true;
    }
    const std::optional<GraphRecordKind> kind = kind_of(*draft_.type);
    if (!kind)
      return stop("no record is of type '" + shown(*draft_.type) + "'");
    const std::string where = draft_.id ? shown(*draft_.id) : "a record";
    GraphRecord record;
    const std::string what = make_graph_record(draft_, *kind, record);
    if (!what.empty()) return stop(where + ": " + what);
    graph.records.push_back(std::move(record));
    return true;
  }

  const size_t* line_;
  std::vector<Place> places_;
  std::string key_;
  GraphDraft draft_;
};

}  // namespace

base::Result<model::GraphRecords> parse_graph_records(std::string_view text) {
  size_t line = 1;
  RecordTaker taker(&line);
  base::Status status = take_json<Json>(text, "graph", line, taker);
  if (!status) return status.error();
  return std::move(taker.graph);
}

}  // namespace tidemark::parse
