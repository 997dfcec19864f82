// Objects that nothing leads to but their pages: the cache of files that nobody
// has open, memfds on their way through a socket, file systems that are mounted
// over. Every page of RAM is looked at, which takes about a second for 24 GiB,
// and the kernel is asked for the names of what they belong to.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "model/page_census.h"
#include "source/bpf/object_lists.h"
#include "source/object_walk.h"
#include "source/roots.h"

namespace tidemark::source {

// What the pages of one file say together.
struct OwnedPages {
  uint64_t page_count = 0;
  bool is_mapped = false;
  bool is_shmem = false;
};
using PageOwners = std::unordered_map<uint64_t, OwnedPages>;

// Pages that belong to a file or to shared memory; all others are left out, and
// those whose owner is in `known`.
void count_owned_pages(const model::PageChunk& chunk,
                       const std::unordered_set<uint64_t>& known,
                       PageOwners& owners);

// Adds an object for a file that the table does not have yet, under `name`.
void add_found_by_pages(const model::CachedFile& file, const OwnedPages& pages,
                        const std::string& name, ObjectWalk& walk);

// Walks all pages and adds what is new. Denied or Unsupported where one may not
// look; then nothing was added.
base::Status find_by_pages(const Roots& roots, const ObjectLists& lists,
                           ObjectWalk& walk);

}  // namespace tidemark::source
