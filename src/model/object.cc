#include "model/object.h"

#include <array>
#include <cstdio>

namespace tidemark::model {
namespace {

struct KindNames {
  std::string_view name;
  std::string_view token;
  std::string_view prefix;  // of its id
};
constexpr KindNames kObjectKinds[kObjectKindCount] = {
    {"file", "file", "file"},
    {"deleted", "deleted_file", "file"},
    {"tmpfs", "tmpfs", "tmpfs"},
    {"memfd", "memfd", "memfd"},
    {"shared", "shared_anon", "shared"},
    {"sysv", "sysv", "sysv"},
    {"huge", "hugetlb", "huge"},
    {"dma-buf", "dma_buf", "dma-buf"},
    {"device", "device", "device"},
    {"bpf map", "bpf_map", "bpf-map"},
    {"bpf prog", "bpf_program", "bpf-prog"},
    {"socket", "socket", "socket"},
    {"pipe", "pipe", "pipe"},
    {"io_uring", "io_uring", "io_uring"},
    {"copy", "private_copy", "copy"},
    {"handle", "handle", "anon"},
};

const KindNames& names_of(ObjectKind kind) {
  return kObjectKinds[static_cast<size_t>(kind)];
}

std::string device_and_inode(const ObjectKey& key) {
  std::array<char, 48> text{};
  const int length = std::snprintf(
      text.data(), text.size(), "%02x:%02x:%llu", key.device_major,
      key.device_minor, static_cast<unsigned long long>(key.inode_id));
  return {text.data(), static_cast<size_t>(length)};
}

std::string hexadecimal(uint64_t value) {
  std::array<char, 24> text{};
  const int length = std::snprintf(text.data(), text.size(), "%llx",
                                   static_cast<unsigned long long>(value));
  return {text.data(), static_cast<size_t>(length)};
}

}  // namespace

std::string_view object_kind_name(ObjectKind kind) {
  return names_of(kind).name;
}

std::string_view object_kind_token(ObjectKind kind) {
  return names_of(kind).token;
}

void ObjectRights::add(const ObjectRights& other) {
  read = read || other.read;
  write = write || other.write;
  execute = execute || other.execute;
}

std::string_view object_means_token(ObjectMeans means) {
  return means == ObjectMeans::Bpf ? "bpf" : "proc";
}

std::string rights_letters(const ObjectRights& rights) {
  return {rights.read ? 'r' : '-', rights.write ? 'w' : '-',
          rights.execute ? 'x' : '-'};
}

std::string object_id(const ObjectKey& key, std::string_view name) {
  const std::string prefix = std::string(names_of(key.kind).prefix) + ":";
  switch (key.kind) {
    case ObjectKind::Sysv:
      return prefix + std::to_string(key.namespace_id) + ":" +
             std::to_string(key.inode_id);
    case ObjectKind::PrivateCopy:
      return prefix + std::to_string(key.namespace_id) + ":" +
             hexadecimal(key.inode_id);
    case ObjectKind::Handle:
      return prefix + std::string(name);
    default:
      break;
  }
  // Those of one file system that the kernel mounts for itself: the inode says
  // it all.
  if (key.device_major == 0 && key.device_minor == 0) {
    return prefix + std::to_string(key.inode_id);
  }
  return prefix + device_and_inode(key);
}

std::string object_id(const MemoryObject& object) {
  return object_id(object.key, object.name);
}

}  // namespace tidemark::model
