#include "source/object_table.h"

namespace tidemark::source {

size_t ObjectTable::Hash::operator()(const model::ObjectKey& key) const {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
  uint64_t hash = key.inode_id * kOdd;
  hash = (hash ^ key.namespace_id ^ (uint64_t{key.device_major} << 40) ^
          (uint64_t{key.device_minor} << 8) ^ static_cast<uint64_t>(key.kind)) *
         kOdd;
  return hash ^ (hash >> 32);
}

size_t ObjectTable::find_or_add(const model::ObjectKey& key) {
  const auto [place, is_new] = index_.try_emplace(key, objects_.size());
  is_new_ = is_new;
  if (is_new) {
    model::MemoryObject& object = objects_.emplace_back();
    object.key = key;
    object.kind = key.kind;
    reaches_.emplace_back();
  }
  return place->second;
}

model::ObjectReference& ObjectTable::reference(size_t index,
                                               size_t process_index) {
  std::vector<model::ObjectReference>& all = objects_[index].references;
  if (all.empty() || all.back().process_index != process_index) {
    all.push_back({process_index, 0, 0, {}});
  }
  return all.back();
}

void set_kernel_bytes(model::MemoryObject& object,
                      std::optional<uint64_t> bytes,
                      const std::string& because) {
  const model::Reading<uint64_t> reading =
      bytes ? model::known(*bytes) : model::unknown<uint64_t>(because);
  object.size_bytes = reading;
  object.alloc_bytes = reading;
  object.swap_bytes = model::known<uint64_t>(0);
}

}  // namespace tidemark::source
