// Objects as they are found, each once, with a way back to it for measuring.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/object.h"

namespace tidemark::source {

// A link that leads to the object: "fd/3" or "map_files/…" of a thread. That
// may have ended, or its number gone to another, when it is followed.
struct ObjectReach {
  int32_t pid = 0;
  std::string name;
};

class ObjectTable {
 public:
  // The index of the object with this key; a new one has only its key.
  size_t find_or_add(const model::ObjectKey& key);
  bool is_new() const { return is_new_; }  // of the last call

  // What the process being read has of it. Processes are read one after the
  // other, so only the last reference can be its.
  model::ObjectReference& reference(size_t index, size_t process_index);

  model::MemoryObject& object(size_t index) { return objects_[index]; }
  ObjectReach& reach(size_t index) { return reaches_[index]; }
  size_t size() const { return objects_.size(); }
  std::vector<model::MemoryObject> take() { return std::move(objects_); }

 private:
  struct Hash {
    size_t operator()(const model::ObjectKey& key) const;
  };
  std::unordered_map<model::ObjectKey, size_t, Hash> index_;
  std::vector<model::MemoryObject> objects_;
  std::vector<ObjectReach> reaches_;
  bool is_new_ = false;
};

// Size and memory of what the kernel holds itself, which is never swapped.
void set_kernel_bytes(model::MemoryObject& object,
                      std::optional<uint64_t> bytes,
                      const std::string& because);

}  // namespace tidemark::source
