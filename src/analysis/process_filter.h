// Which processes are meant, as a person types it: "postgres",
// "pss>100M and user=ann", "not firefox".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/process_use.h"
#include "analysis/ps_report.h"
#include "base/result.h"
#include "model/process.h"

namespace tidemark::analysis {

// Conditions joined by `and` and `or`, of which `and` binds closer; `not` may
// stand before each. A condition is a word, which name, command, user or group
// must contain, or FIELD OP VALUE with pss, private, shared, swap, rss, pid (>,
// <, >=, <=, =, !=) or name, user, group (=, !=, ~ for "contains"). Letter case
// does not matter. A size that is not known meets no condition.
class ProcessFilter {
 public:
  // Misused, with what would be right, for what is none.
  static base::Result<ProcessFilter> parse(std::string_view text);

  bool matches(const model::Process& process, const Use& use,
               const std::vector<UserLabel>& users) const;
  // Whether it asks for sizes, which are others at each moment.
  bool has_sizes() const;

 private:
  enum class Field : uint8_t {
    Any,
    Pss,
    Private,
    Shared,
    Swap,
    Rss,
    Pid,
    Name,
    User,
    Group,
  };
  enum class Operator : uint8_t {
    Contains,
    Equal,
    Differs,
    Less,
    Greater,
    AtMost,
    AtLeast,
  };
  struct Condition {
    Field field = Field::Any;
    Operator op = Operator::Contains;
    std::string text;  // lower case
    uint64_t number = 0;
    bool is_negated = false;
  };

  static std::optional<Field> field_called(std::string_view name);
  static std::optional<Operator> take_operator(std::string_view& rest);
  static base::Result<Condition> parse_condition(std::string_view word);
  static bool compare(uint64_t left, Operator op, uint64_t right);
  static bool compare(const std::string& left, const Condition& condition);
  bool meets(const Condition& condition, const model::Process& process,
             const Use& use, const std::vector<UserLabel>& users) const;

  // Met when all conditions of one of them are.
  std::vector<std::vector<Condition>> choices_;
};

}  // namespace tidemark::analysis
