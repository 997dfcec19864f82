// A capture of a whole machine as it stands in a file of `tidemark graph` or of
// Fuchsia's memgraph: a list of records, each with the id of the one it is in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/category.h"

namespace tidemark::model {

enum class GraphRecordKind : uint8_t { Kernel, Job, Process, Thread };

// What a process has of a memory object.
struct GraphRecordObject {
  uint64_t koid = 0;
  std::string name;
  uint64_t committed_bytes = 0;
  uint64_t share_count = 0;  // processes that refer to it
  std::optional<uint64_t> swap_bytes;
  std::optional<Category> category;
  bool is_mapped = false;  // else only held open
  bool operator==(const GraphRecordObject&) const = default;
};

struct GraphRecord {
  GraphRecordKind kind = GraphRecordKind::Kernel;
  std::string id;
  std::string parent;  // empty: of the root
  std::string name;
  uint64_t size_bytes = 0;    // of a part of the kernel
  uint64_t unread_bytes = 0;  // of it, of processes that may not be read
  std::optional<uint64_t> charged_bytes;  // of a group; empty: not told
  // Of a process:
  uint64_t private_bytes = 0;
  uint64_t pss_bytes = 0;
  std::optional<uint64_t> swap_pss_bytes;
  std::optional<int32_t> pid;
  bool is_unknown = false;  // its zeros stand for what could not be read
  std::vector<GraphRecordObject> objects;  // each once
  bool operator==(const GraphRecord&) const = default;
};

struct GraphRecords {
  std::vector<GraphRecord> records;  // in the order of the file
  std::string timestamp;             // as the file has it; empty: it has none
  std::vector<std::string> notes;
};

}  // namespace tidemark::model
