// What `serve` can be told.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace tidemark::cli {

struct ServeOptions {
  std::vector<std::string> places;  // recordings and folders of them
  std::vector<std::string> pids;
  std::vector<std::string> names;
  std::vector<std::string> cgroups;
  bool everything = false;
  std::string interval;
  std::string budget;
  std::string with;  // more sources, as `record` takes them
  std::string kept_path;
  bool overwrites = false;  // that file
  std::string listen = "127.0.0.1:0";
  bool allows_remote = false;
  std::vector<std::string> host_names;
  std::string token_path;
  bool without_browser = false;
  CommonOptions common;

  // Whether something is recorded while it serves.
  bool is_live() const;
};

void add_serve_options(OptionTable& table, ServeOptions& options);

// What `record` is told, but for the file.
std::vector<std::string> record_arguments(const ServeOptions& options);

}  // namespace tidemark::cli
