// Code of programs, each place kept once, and the files it is from.
//
// What a place is called is not asked before somebody wants to read it:
// unwinding needs no names, and finding them may mean unpacking debug
// information, which takes more than all of a second's stacks.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "model/trace.h"

namespace tidemark::source {

// What the code of one file is called.
class CodeNames {
 public:
  CodeNames() = default;
  CodeNames(const CodeNames&) = delete;
  CodeNames& operator=(const CodeNames&) = delete;
  virtual ~CodeNames() = default;

  virtual std::string build_id() = 0;  // hexadecimal; empty: it has none
  // Functions that were inlined there come first, the innermost before all;
  // then the one they are in, which alone has the address. Modules are left
  // empty.
  virtual std::vector<model::TraceFrame> names_at(uint64_t address,
                                                  bool has_line) = 0;
};

// A file that was changed is another one.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode_id = 0;
  uint64_t size_bytes = 0;
  int64_t changed_ns = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

class UserFrames {
 public:
  // One whose name is known already.
  uint32_t keep(const model::TraceFrame& frame);

  struct Place {
    uint32_t file = 0;
    uint64_t address = 0;  // in the file
    bool has_line = false;
    auto operator<=>(const Place&) const = default;
  };
  uint32_t keep(const Place& place);

  std::optional<uint32_t> find_file(const FileIdentity& identity) const;
  uint32_t keep_file(const FileIdentity& identity, std::string path,
                     std::unique_ptr<CodeNames> names);

  // Finds names for all that was kept since it was last called. That may take
  // seconds: `keep_up` is called after each, and may keep more.
  void learn_names(const std::function<void()>& keep_up);
  uint64_t naming_ns() const { return naming_ns_; }  // of our own CPU time
  // What learn_names() has seen: one or, where functions were inlined, several,
  // the innermost first.
  std::span<const model::TraceFrame> at(uint32_t index) const {
    return entries_[index].frames;
  }
  // The files of frames that have names by now.
  const std::vector<model::TraceImage>& images() const { return images_; }

 private:
  struct Entry {
    std::optional<Place> place;  // that has no name yet
    std::vector<model::TraceFrame> frames;
  };
  struct File {
    std::string path;
    std::unique_ptr<CodeNames> names;
    std::string image;  // TraceImage::name; empty: no frame of it was named
  };
  std::vector<model::TraceFrame> name(const Place& place);
  const std::string& image_of(File& file);
  std::string keep_image(const std::string& path, const std::string& build_id);

  std::vector<Entry> entries_;
  size_t learned_count_ = 0;  // of them
  uint64_t naming_ns_ = 0;
  std::map<std::tuple<uint64_t, std::string, std::string>, uint32_t> known_;
  std::map<Place, uint32_t> places_;
  std::vector<File> files_;
  std::map<FileIdentity, uint32_t> known_files_;
  std::vector<model::TraceImage> images_;
};

}  // namespace tidemark::source
