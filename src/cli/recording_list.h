// The recordings below some files and folders, as they are now.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "view/web/routes.h"

namespace tidemark::cli {

class RecordingList {
 public:
  // NotFound for a place that is not there.
  static base::Result<RecordingList> of(const std::vector<std::string>& places);

  // One that this server itself writes; first in the list, once it is there.
  void add_live(std::string path, std::string name);

  // Looks again. True when a file came, went or grew.
  bool look();
  const std::vector<view::ServedRecording>& recordings() const {
    return recordings_;
  }
  // Which of them changed at the last look.
  const std::vector<std::string>& changed_names() const { return changed_; }

 private:
  struct Place {
    std::string path;  // absolute
    std::string name;  // of a file: what it is called
    bool is_folder = false;
    bool is_live = false;
  };
  std::vector<Place> places_;
  std::vector<view::ServedRecording> recordings_;
  std::vector<std::string> changed_;
};

// Names the state of a recording: another one when something was added.
std::string state_of(const view::ServedRecording& recording);

}  // namespace tidemark::cli
