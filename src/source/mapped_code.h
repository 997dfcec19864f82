// Which files processes map as code, as the kernel tells it when it happens
// (perf's records of mmap): of a process that lived for a few milliseconds
// nobody reads the list of its mappings in time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "model/mapping.h"
#include "source/perf_ring.h"

namespace tidemark::source {

class MappedCode {
 public:
  // Of what these threads and all their descendants map from here on. Denied,
  // or Unsupported, where perf is.
  static base::Result<std::unique_ptr<MappedCode>> follow(
      std::span<const int32_t> thread_ids);
  MappedCode(const MappedCode&) = delete;
  MappedCode& operator=(const MappedCode&) = delete;
  ~MappedCode() = default;

  // Takes what has come in since.
  void drain();
  // What the process had mapped at that time (monotonic), in order of address;
  // without what it has from before it last executed a program. Empty: none was
  // told of.
  std::vector<model::Mapping> code_of(int32_t pid, uint64_t time_ns) const;
  // How often it has mapped code since it last executed a program.
  size_t mapped_count(int32_t pid) const;
  // It runs another program than it did at that time.
  bool has_executed_since(int32_t pid, uint64_t time_ns) const;
  void forget(int32_t pid) { images_.erase(pid); }
  uint64_t lost_count() const { return lost_count_; }
  uint64_t kernel_bytes() const { return feeds_.size() * kRingBytes; }

 private:
  static constexpr size_t kRingBytes = 65536;
  struct Feed {
    base::Fd fd;
    PerfRing ring;
  };
  struct Told {
    uint64_t time_ns = 0;
    int32_t pid = 0;
    bool is_exec = false;
    model::Mapping mapping;
  };
  // One program after the other, as it executed them.
  struct Image {
    uint64_t since_ns = 0;
    std::vector<Told> mapped;
  };
  MappedCode() = default;
  base::Status open(int32_t thread_id, int cpu);
  void take(std::string_view record);
  void book(Told told);

  std::vector<Feed> feeds_;
  std::vector<Told> waiting_;  // of one drain, to be put in order
  std::unordered_map<int32_t, std::vector<Image>> images_;
  uint64_t lost_count_ = 0;
};

}  // namespace tidemark::source
