#include "cli/memstrack.h"

#include <algorithm>

namespace tidemark::cli {
namespace {

bool names_a_file(const std::string& word) {
  return word.starts_with("-o") || word.starts_with("--output");
}

bool names_a_backend(const std::string& word) {
  return word.starts_with("-b") || word.starts_with("--backend") ||
         word.starts_with("--pageowner-file");
}

}  // namespace

std::vector<std::string> memstrack_arguments(
    const std::vector<std::string>& arguments) {
  std::vector<std::string> ours = {"trace"};
  // A backend that was asked for is the only one.
  if (std::ranges::none_of(arguments, names_a_backend)) {
    ours.emplace_back("--early");
    if (std::ranges::any_of(arguments, names_a_file)) {
      ours.insert(ours.end(), {"--refresh", "1s"});
    }
  }
  for (const std::string& word : arguments)
    ours.push_back(word == "-?" ? "--help" : word);
  return ours;
}

}  // namespace tidemark::cli
