#include "analysis/process_filter.h"

#include <algorithm>
#include <utility>

#include "analysis/ps_groups.h"
#include "base/escape.h"
#include "base/text.h"
#include "base/units.h"

namespace tidemark::analysis {
namespace {

using base::ErrorKind;

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  }
  return result;
}

constexpr std::string_view kFilterHint =
    "a word, or pss>100M, private, shared, swap, rss, pid, name=x, user, group "
    "with and, or, not";

}  // namespace

std::optional<ProcessFilter::Field> ProcessFilter::field_called(
    std::string_view name) {
  constexpr std::pair<std::string_view, Field> kFields[] = {
      {"pss", Field::Pss},      {"private", Field::Private},
      {"uss", Field::Private},  {"shared", Field::Shared},
      {"swap", Field::Swap},    {"rss", Field::Rss},
      {"pid", Field::Pid},      {"name", Field::Name},
      {"user", Field::User},    {"group", Field::Group},
      {"cgroup", Field::Group},
  };
  for (const auto& [known, field] : kFields) {
    if (known == name) return field;
  }
  return std::nullopt;
}

std::optional<ProcessFilter::Operator> ProcessFilter::take_operator(
    std::string_view& rest) {
  // Longer signs first: ">=" is no ">".
  constexpr std::pair<std::string_view, Operator> kOperators[] = {
      {">=", Operator::AtLeast}, {"<=", Operator::AtMost},
      {"!=", Operator::Differs}, {">", Operator::Greater},
      {"<", Operator::Less},     {"=", Operator::Equal},
      {"~", Operator::Contains},
  };
  for (const auto& [sign, op] : kOperators) {
    if (!rest.starts_with(sign)) continue;
    rest.remove_prefix(sign.size());
    return op;
  }
  return std::nullopt;
}

base::Result<ProcessFilter::Condition> ProcessFilter::parse_condition(
    std::string_view word) {
  Condition condition;
  const size_t sign = word.find_first_of("<>=!~");
  if (sign == std::string_view::npos) {
    condition.text = lowered(word);
    return condition;
  }
  const std::string name = lowered(word.substr(0, sign));
  const std::optional<Field> field = field_called(name);
  if (!field) {
    return base::fail(ErrorKind::Misused,
                      "no column is called '" + base::visible(name) + "'",
                      std::string(kFilterHint));
  }
  std::string_view rest = word.substr(sign);
  const std::optional<Operator> op = take_operator(rest);
  if (!op) {
    return base::fail(ErrorKind::Misused, "a lone '!'",
                      std::string(kFilterHint));
  }
  condition.field = *field;
  condition.op = *op;
  condition.text = lowered(rest);
  if (condition.field >= Field::Name) {
    if (condition.op > Operator::Differs) {
      return base::fail(ErrorKind::Misused,
                        "'" + name + "' is text: it has no order",
                        std::string(kFilterHint));
    }
    return condition;
  }
  base::Result<uint64_t> number = base::parse_size(rest);
  if (!number || condition.op == Operator::Contains) {
    return base::fail(ErrorKind::Misused,
                      "'" + base::visible(rest) + "' is no size",
                      std::string(kFilterHint));
  }
  condition.number = *number;
  return condition;
}

base::Result<ProcessFilter> ProcessFilter::parse(std::string_view text) {
  ProcessFilter filter;
  filter.choices_.emplace_back();
  bool is_negated = false;
  bool wants_condition = true;
  while (true) {
    const std::string_view word = base::take_word(text);
    if (word.empty()) break;
    const std::string known = lowered(word);
    if (known == "and" || known == "or") {
      if (wants_condition) {
        return base::fail(ErrorKind::Misused,
                          "nothing stands before '" + known + "'",
                          std::string(kFilterHint));
      }
      wants_condition = true;
      if (known == "or") filter.choices_.emplace_back();
      continue;
    }
    if (known == "not") {
      is_negated = !is_negated;
      wants_condition = true;
      continue;
    }
    base::Result<Condition> condition = parse_condition(word);
    if (!condition) return condition.error();
    condition->is_negated = std::exchange(is_negated, false);
    // Words side by side must all be met.
    filter.choices_.back().push_back(std::move(*condition));
    wants_condition = false;
  }
  if (wants_condition) {
    return base::fail(ErrorKind::Misused, "it ends too early",
                      std::string(kFilterHint));
  }
  return filter;
}

bool ProcessFilter::compare(uint64_t left, Operator op, uint64_t right) {
  switch (op) {
    case Operator::Equal:
      return left == right;
    case Operator::Differs:
      return left != right;
    case Operator::Less:
      return left < right;
    case Operator::Greater:
      return left > right;
    case Operator::AtMost:
      return left <= right;
    case Operator::AtLeast:
      return left >= right;
    case Operator::Contains:
      break;
  }
  return false;
}

bool ProcessFilter::compare(const std::string& left,
                            const Condition& condition) {
  const std::string text = lowered(left);
  switch (condition.op) {
    case Operator::Equal:
      return text == condition.text;
    case Operator::Differs:
      return text != condition.text;
    default:
      return text.find(condition.text) != std::string::npos;
  }
}

bool ProcessFilter::meets(const Condition& condition,
                          const model::Process& process, const Use& use,
                          const std::vector<UserLabel>& users) const {
  const auto size = [&](const model::Amount& amount) {
    const std::optional<uint64_t> bytes = amount.known_bytes();
    return bytes && compare(*bytes, condition.op, condition.number);
  };
  switch (condition.field) {
    case Field::Pss:
      return size(use.in_ram());
    case Field::Private:
      return size(use.uss);
    case Field::Shared:
      return size(use.shared);
    case Field::Swap:
      return size(use.swap_pss);
    case Field::Rss:
      return size(use.rss);
    case Field::Pid:
      return compare(static_cast<uint64_t>(process.id.pid), condition.op,
                     condition.number);
    case Field::Name:
      return compare(display_name(process), condition);
    case Field::User:
      return compare(user_label(process.status.user_id, users), condition);
    case Field::Group:
      return compare(process.cgroup_path, condition);
    case Field::Any:
      break;
  }
  for (const std::string& text :
       {display_name(process), process.stat.comm, command_text(process),
        process.cgroup_path, user_label(process.status.user_id, users)}) {
    if (compare(text, condition)) return true;
  }
  return false;
}

bool ProcessFilter::has_sizes() const {
  return std::ranges::any_of(choices_, [](const auto& all) {
    return std::ranges::any_of(all, [](const Condition& condition) {
      return condition.field >= Field::Pss && condition.field <= Field::Rss;
    });
  });
}

bool ProcessFilter::matches(const model::Process& process, const Use& use,
                            const std::vector<UserLabel>& users) const {
  return std::ranges::any_of(choices_, [&](const auto& all) {
    return std::ranges::all_of(all, [&](const Condition& condition) {
      return meets(condition, process, use, users) != condition.is_negated;
    });
  });
}

}  // namespace tidemark::analysis
