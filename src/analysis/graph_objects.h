// Memory objects: what the mappings of all processes are mappings of, and what
// they hold open. A file or a piece of shared memory is one object however many
// processes map it; private anonymous memory is an object of its process, one
// for each name; pages that a process wrote in a private mapping of a file are
// a child of the file, its own.
//
// What an object has committed is the sum of its mappers' proportional shares,
// so that every page counts once over all objects. Of memory that lasts as long
// as it is held (a memfd, a deleted file) it is all that is in RAM, mapped or
// not. A scan tells objects apart as stat does. Without one the numbers of maps
// must do: on btrfs and overlayfs, and for System V segments of several
// namespaces, two objects may pass for one then, or one for two.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/object.h"
#include "model/region.h"
#include "model/sample.h"

namespace tidemark::analysis {

struct GraphObject {
  uint64_t koid = 0;  // a number of this capture
  std::string name;
  model::RegionKind kind = model::RegionKind::Anonymous;
  uint64_t parent_koid = 0;  // the file it is a written copy of; 0: none
  uint64_t child_count = 0;
  // As far as it is mapped: the last offset of a file, the sum of the others.
  uint64_t size_bytes = 0;
  uint64_t committed_bytes = 0;
  uint64_t swap_bytes = 0;  // proportional, like the committed
  uint64_t mapping_count = 0;
  // Processes that refer to it. Of an object that nobody maps one less: the
  // original treemap divides such a one by one more.
  uint64_t share_count = 0;
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint64_t inode_id = 0;  // 0: it is of one process
  bool operator==(const GraphObject&) const = default;
};

// That a process maps an object, or holds it open, or both.
struct GraphReference {
  size_t object = 0;  // its place in the list of objects
  uint64_t mapping_count = 0;
  uint64_t descriptor_count = 0;  // known of memory that lasts by being held
  uint64_t pss_bytes = 0;
  uint64_t rss_bytes = 0;
  bool can_read = false;
  bool can_write = false;
  bool can_execute = false;
  bool operator==(const GraphReference&) const = default;
};

struct GraphObjects {
  std::vector<GraphObject> objects;  // in order of discovery; no koids yet
  // Of each process of the sample.
  std::vector<std::vector<GraphReference>> references;
};

// Processes without mappings have none. `scan` may be null: what is only held
// open is not seen then. `parent_koid` is a place plus one until koids are
// given.
GraphObjects find_objects(const model::Sample& sample,
                          const model::ObjectScan* scan = nullptr);

}  // namespace tidemark::analysis
