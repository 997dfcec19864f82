// A machine of some pages: what a census and a walk have found.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/ledger.h"
#include "analysis/ledger_input.h"
#include "model/page_census.h"

namespace tidemark::analysis {

inline constexpr uint64_t kPage = 4096;
inline constexpr uint64_t kFile = 0xffff888000001000;
inline constexpr uint64_t kCache = 0xffff888000002000;

struct Machine {
  PageSets sets;
  std::unique_ptr<PageTally> tally;
  LedgerInput input;
  uint64_t next_frame = 1;

  explicit Machine(size_t process_count, bool by_mapper = false)
      : tally(std::make_unique<PageTally>(
            sets, by_mapper ? TallyBy::Mapper : TallyBy::Owner)) {
    for (size_t i = 0; i < process_count; ++i) {
      LedgerProcess process;
      process.pid = static_cast<int32_t>(100 + i);
      process.name = i % 2 == 0 ? "even" : "odd";
      process.group = 1 + i % 2;
      process.thread_count = 1;
      process.is_read = true;
      input.processes.push_back(process);
    }
    input.groups = {{1, "/one"}, {2, "/two"}};
    input.files = {{kFile, "/usr/bin/tool"}, {kFile + 8, "/etc/passwd"}};
    input.caches = {{kCache, "dentry"}, {kCache + 8, "inode_cache"}};
  }

  // Pages with one look, mapped by these.
  void add(uint64_t count, uint64_t flags,
           const std::vector<uint32_t>& mappers = {}, uint64_t group = 0,
           const model::PageStruct* info = nullptr) {
    std::vector<uint64_t> frames;
    for (uint64_t i = 0; i < count; ++i)
      frames.push_back(next_frame + i);
    std::vector<SetMember> members;
    for (uint32_t process : mappers) {
      if (members.empty() || members.back().process != process) {
        members.push_back({process, 0});
      }
      ++members.back().times;
    }
    const SetId set = sets.set_of(members);
    for (uint64_t frame : frames) {
      if (set != 0) sets.move(frame, set);
    }
    const std::vector<uint64_t> all_flags(count, flags);
    const std::vector<uint64_t> counts(count, mappers.size());
    const std::vector<uint64_t> groups(count, group);
    const std::vector<model::PageStruct> structs(
        count, info ? *info : model::PageStruct());
    model::PageChunk chunk;
    chunk.first_frame = next_frame;
    chunk.flags = all_flags;
    chunk.counts = counts;
    chunk.groups = groups;
    if (info) chunk.structs = structs;
    tally->add(chunk);
    next_frame += count;
  }

  model::Ledger ledger(LedgerBy by = LedgerBy::Class) {
    input.tally = tally.get();
    input.sets = &sets;
    input.by = by;
    return make_ledger(input);
  }
};

inline model::PageStruct known(uint64_t owner = 0, uint32_t references = 1,
                               model::PageType type = model::PageType::None) {
  return {owner, references, type, true};
}

}  // namespace tidemark::analysis
