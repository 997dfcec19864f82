#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"

namespace tidemark::cli {
namespace {

// Whoever multiplies a count of rows by something stays far from overflow.
constexpr uint64_t kMostCount = 1'000'000'000'000;

using base::ErrorKind;

// At most a third of the letters may be wrong for a word to count as meant.
constexpr size_t kTypoShare = 3;

base::Error unknown_option(const OptionTable& table, const std::string& word) {
  std::vector<std::string> names;
  for (const Option& option : table.all()) {
    if (option.is_positional) continue;
    for (std::string& name : option.name_list()) {
      names.push_back(std::move(name));
    }
  }
  const std::string typed = word.substr(0, word.find('='));
  const std::string meant = nearest(typed, names);
  std::string what = word.starts_with('-')
                         ? "unknown option '" + base::visible(typed) + "'"
                         : "unexpected argument '" + base::visible(word) + "'";
  if (!meant.empty() && word.starts_with('-')) {
    what += "; did you mean '" + meant + "'?";
  }
  return base::fail(ErrorKind::Misused, what);
}

base::Error bad_choice(const Option& option, const std::string& word) {
  std::string list;
  for (const std::string& choice : option.choices) {
    list += (list.empty() ? "" : ", ") + choice;
  }
  return base::fail(ErrorKind::Misused,
                    "'" + base::visible(word) + "' is not a value of " +
                        option.name_list().back(),
                    "one of " + list);
}

base::Status take_word(const Option& option, const std::string& word) {
  if (option.value.empty()) {
    // CLI11 would take --wide=false, and it would be raised all the same.
    if (word == "true") return option.take("");
    return base::fail(ErrorKind::Misused,
                      option.name_list().back() + " takes no value");
  }
  if (!option.choices.empty() &&
      std::ranges::find(option.choices, word) == option.choices.end()) {
    return bad_choice(option, word);
  }
  return option.take(word);
}

const Option* rest_of(const OptionTable& table) {
  for (const Option& option : table.all()) {
    if (option.takes_rest) return &option;
  }
  return nullptr;
}

// Whether the word behind this one is its value: "--output", "-o", "-qo", but
// not "--output=FILE" and not "-oFILE".
bool takes_next_word(const OptionTable& table, const std::string& word) {
  const auto takes_value = [&](const std::string& name) {
    for (const Option& option : table.all()) {
      if (option.is_positional || option.value.empty()) continue;
      const std::vector<std::string> names = option.name_list();
      if (std::ranges::find(names, name) != names.end()) return true;
    }
    return false;
  };
  if (word.starts_with("--")) return takes_value(word);
  for (size_t i = 1; i < word.size(); ++i) {
    if (takes_value({'-', word[i]})) return i + 1 == word.size();
  }
  return false;
}

// What CLI11 has no option for: words for the positionals in their order, and
// what looks like an option and is none.
base::Status take_positionals(const OptionTable& table,
                              const std::vector<std::string>& words) {
  std::vector<const Option*> open;
  for (const Option& option : table.all()) {
    if (option.is_positional && !option.takes_rest) open.push_back(&option);
  }
  bool may_be_option = true;
  for (const std::string& word : words) {
    if (may_be_option && word == "--") {
      may_be_option = false;
      continue;
    }
    const bool is_option =
        may_be_option && word.size() > 1 && word.starts_with('-');
    if (is_option || open.empty()) return unknown_option(table, word);
    base::Status status = open.front()->take(word);
    if (!status) return status;
    if (!open.front()->takes_many) open.erase(open.begin());
  }
  return base::Ok{};
}

}  // namespace

std::vector<std::string> Option::name_list() const {
  std::vector<std::string> list;
  for (std::string_view name : base::split(names, ',')) {
    list.emplace_back(name);
  }
  return list;
}

void OptionTable::flag(std::string names, std::string help, bool& target) {
  flag(std::move(names), std::move(help), [&target] { target = true; });
}

void OptionTable::flag(std::string names, std::string help,
                       std::function<void()> raise) {
  Option option;
  option.names = std::move(names);
  option.help = std::move(help);
  option.take = [raise = std::move(raise)](const std::string&) -> base::Status {
    raise();
    return base::Ok{};
  };
  options_.push_back(std::move(option));
}

void OptionTable::value(std::string names, std::string placeholder,
                        std::string help, Take take) {
  Option option;
  option.names = std::move(names);
  option.value = std::move(placeholder);
  option.help = std::move(help);
  option.take = std::move(take);
  options_.push_back(std::move(option));
}

void OptionTable::value(std::string names, std::string placeholder,
                        std::string help, std::string& target) {
  value(std::move(names), std::move(placeholder), std::move(help),
        [&target](const std::string& word) -> base::Status {
          target = word;
          return base::Ok{};
        });
}

void OptionTable::count(std::string names, std::string help,
                        std::function<void(uint64_t)> take) {
  value(std::move(names), "N", std::move(help),
        [take = std::move(take)](const std::string& word) -> base::Status {
          const std::optional<uint64_t> number = base::parse_u64(word);
          if (!number || *number == 0) {
            return base::fail(ErrorKind::Misused,
                              "'" + base::visible(word) + "' is not a count",
                              "a whole number from 1 on");
          }
          if (*number > kMostCount) {
            return base::fail(ErrorKind::Misused,
                              "'" + base::visible(word) +
                                  "' is more than there can be of anything",
                              "at most " + base::grouped(kMostCount));
          }
          take(*number);
          return base::Ok{};
        });
}

void OptionTable::choice(std::string names, std::vector<std::string> choices,
                         std::string help, Take take) {
  std::string placeholder;
  for (const std::string& word : choices) {
    placeholder += (placeholder.empty() ? "" : "|") + word;
  }
  value(std::move(names), std::move(placeholder), std::move(help),
        std::move(take));
  options_.back().choices = std::move(choices);
}

void OptionTable::positional(std::string name, std::string help,
                             std::vector<std::string>& target,
                             bool is_required) {
  Option option;
  option.names = std::move(name);
  option.help = std::move(help);
  option.is_positional = true;
  option.is_required = is_required;
  option.takes_many = true;
  option.take = [&target](const std::string& word) -> base::Status {
    target.push_back(word);
    return base::Ok{};
  };
  options_.push_back(std::move(option));
}

void OptionTable::positional(std::string name, std::string help,
                             std::string& target, bool is_required,
                             std::vector<std::string> choices) {
  Option option;
  option.names = std::move(name);
  option.help = std::move(help);
  option.is_positional = true;
  option.is_required = is_required;
  option.choices = std::move(choices);
  option.take = [&target](const std::string& word) -> base::Status {
    target = word;
    return base::Ok{};
  };
  options_.push_back(std::move(option));
}

void OptionTable::command(std::string name, std::string help,
                          std::vector<std::string>& target) {
  positional(std::move(name), std::move(help), target, true);
  options_.back().takes_rest = true;
}

void OptionTable::command_after_dashes(std::string name, std::string help,
                                       std::vector<std::string>& target) {
  positional(std::move(name), std::move(help), target, false);
  options_.back().takes_rest = true;
  options_.back().needs_dashes = true;
}

size_t find_operands(const OptionTable& table,
                     const std::vector<std::string>& arguments) {
  const Option* rest = rest_of(table);
  if (rest == nullptr) return arguments.size();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") return i;
    if (word.size() < 2 || !word.starts_with('-')) {
      if (rest->needs_dashes) continue;
      return i;
    }
    if (takes_next_word(table, word)) ++i;
  }
  return arguments.size();
}

base::Status parse_options(const OptionTable& table,
                           const std::vector<std::string>& all_arguments) {
  std::vector<std::string> arguments = all_arguments;
  const size_t operands = find_operands(table, arguments);
  if (const Option* rest = rest_of(table)) {
    for (size_t i = operands; i < all_arguments.size(); ++i) {
      if (i == operands && all_arguments[i] == "--") continue;
      base::Status status = rest->take(all_arguments[i]);
      if (!status) return status;
    }
    arguments.resize(operands);
  }
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<const CLI::Option*, const Option*> bound;
  for (const Option& option : table.all()) {
    // Ours: CLI11 would take a word like "[a,b]" apart.
    if (option.is_positional) continue;
    CLI::Option* made = nullptr;
    if (option.value.empty()) {
      made = app.add_flag(option.names);
    } else {
      made = app.add_option(option.names)->take_last();
      made->type_name(option.value);
    }
    bound[made] = &option;
  }
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  app.parse(reversed);
  base::Status status = take_positionals(table, app.remaining());
  if (!status) return status;
  // In the order they were typed: of --json and --format csv the last counts.
  // CLI11 notes an option once for each of its values.
  std::map<const CLI::Option*, size_t> taken;
  for (const CLI::Option* parsed : app.parse_order()) {
    const std::string& word = parsed->results()[taken[parsed]++];
    status = take_word(*bound[parsed], word);
    if (!status) return status;
  }
  return base::Ok{};
}

std::string nearest(std::string_view word,
                    const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = word.size() / kTypoShare + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = base::edit_distance(word, candidate);
    // An unfinished word is meant too: --inter for --interval.
    const bool begins = word.size() > 3 && candidate.starts_with(word);
    if (distance < best_distance || (begins && best.empty())) {
      best = candidate;
      best_distance = std::min(distance, best_distance);
    }
  }
  return best;
}

}  // namespace tidemark::cli
