// The options of a command as data. The parser, --help, the man pages and the
// shell completions are all made from this one table, so they cannot disagree.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tidemark::cli {

using Take = std::function<base::Status(const std::string&)>;

struct Option {
  std::string names;  // "-r,--recursive"; of a positional its name, "PID"
  std::string value;  // what stands for the value, "DUR"; empty for a flag
  std::string help;
  std::vector<std::string> choices;
  bool is_positional = false;
  bool is_required = false;  // for the usage line
  bool takes_many = false;
  bool takes_rest = false;    // it and all behind it are taken as they are
  bool needs_dashes = false;  // of takes_rest: begins behind "--" only
  Take take;                  // a flag is given ""

  std::vector<std::string> name_list() const;
};

class OptionTable {
 public:
  void flag(std::string names, std::string help, bool& target);
  void flag(std::string names, std::string help, std::function<void()> raise);
  void value(std::string names, std::string placeholder, std::string help,
             Take take);
  void value(std::string names, std::string placeholder, std::string help,
             std::string& target);
  // A whole number from one on: of rows, of readings. "0" is refused, since
  // what it could mean (none, no limit) differs from one reader to the next; so
  // is what there cannot be of anything.
  void count(std::string names, std::string help,
             std::function<void(uint64_t)> take);
  void choice(std::string names, std::vector<std::string> choices,
              std::string help, Take take);
  void positional(std::string name, std::string help,
                  std::vector<std::string>& target, bool is_required);
  // `choices` are offered by completions; the command checks them itself.
  void positional(std::string name, std::string help, std::string& target,
                  bool is_required, std::vector<std::string> choices = {});
  // A command to run: the first word that is no option begins it, and nothing
  // behind that word is ours.
  void command(std::string name, std::string help,
               std::vector<std::string>& target);
  // The same, for a command that takes operands of its own: it begins behind
  // "--".
  void command_after_dashes(std::string name, std::string help,
                            std::vector<std::string>& target);
  const std::vector<Option>& all() const { return options_; }

 private:
  std::vector<Option> options_;
};

// Where the operands begin in a table that ends with a command; behind the last
// argument in any other, whose options may stand anywhere.
size_t find_operands(const OptionTable& table,
                     const std::vector<std::string>& arguments);

// Reads the arguments (without program and command name) into the targets of
// the table. Misused, with the nearest option named, when one is not known.
// "-h" and "--help" must be in the table like any other; that a required
// positional is there is checked by the command, so that --help works without.
// CLI11 throws on odd input; main catches that.
base::Status parse_options(const OptionTable& table,
                           const std::vector<std::string>& arguments);

// The nearest of `candidates` to a mistyped word; empty when none is near.
std::string nearest(std::string_view word,
                    const std::vector<std::string>& candidates);

}  // namespace tidemark::cli
