// Holds a report to the contract on unknowns: a null has its reason in
// "unknown" of the same object, and a lower bound names a number beside it.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "unit/json_check.h"

namespace tidemark::view {

// Walks a text that JsonCheck has called valid.
class UnknownsCheck {
 public:
  // `none_allowed` are members where null means that there is none, as of a
  // limit.
  UnknownsCheck(std::string_view json, std::vector<std::string> none_allowed)
      : rest_(json), none_allowed_(std::move(none_allowed)) {
    value("");
  }

  // "total.pss_bytes is null without a reason", …
  const std::vector<std::string>& complaints() const { return complaints_; }

 private:
  enum class Kind { Null, Number, Object, Other };

  void blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n'))
      rest_.remove_prefix(1);
  }
  bool take(char c) {
    blanks();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string string() {
    take('"');
    std::string text;
    while (rest_[0] != '"') {
      const size_t length = rest_[0] == '\\' ? 2 : 1;
      text += rest_.substr(0, length);
      rest_.remove_prefix(length);
    }
    rest_.remove_prefix(1);
    return text;
  }

  Kind value(const std::string& path) {
    blanks();
    if (rest_[0] == '{') {
      object(path);
      return Kind::Object;
    }
    if (rest_[0] == '[') {
      list(path);
      return Kind::Other;
    }
    if (rest_[0] == '"') {
      string();
      return Kind::Other;
    }
    const size_t end = std::min(rest_.find_first_of(",}] \n"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    if (word == "null") return Kind::Null;
    return word == "true" || word == "false" ? Kind::Other : Kind::Number;
  }

  std::vector<std::string> list(const std::string& path) {
    std::vector<std::string> words;
    take('[');
    while (!take(']')) {
      blanks();
      if (rest_[0] == '"') {
        words.push_back(string());
      } else {
        value(path + "[]");
      }
      take(',');
    }
    return words;
  }

  // Keys of an object of reasons.
  std::vector<std::string> reasons() {
    std::vector<std::string> names;
    take('{');
    while (!take('}')) {
      names.push_back(string());
      take(':');
      if (string().empty()) complaints_.push_back(names.back() + ": no words");
      take(',');
    }
    return names;
  }

  void object(const std::string& path) {
    std::vector<std::string> nulls, numbers, explained, bounds;
    take('{');
    while (!take('}')) {
      blanks();
      const std::string key = string();
      take(':');
      blanks();
      if (key == "unknown") {
        explained = reasons();
      } else if (key == "lower_bounds") {
        bounds = list(path);
      } else {
        const Kind kind = value(path + "." + key);
        if (kind == Kind::Null) nulls.push_back(key);
        if (kind == Kind::Number) numbers.push_back(key);
      }
      take(',');
    }
    complain(path, nulls, explained, none_allowed_, "null without a reason");
    complain(path, explained, nulls, {}, "explained and not null");
    complain(path, bounds, numbers, {}, "a lower bound without a number");
  }

  // Each of `names` must be in `wanted` or in `exempt`.
  void complain(const std::string& path, const std::vector<std::string>& names,
                const std::vector<std::string>& wanted,
                const std::vector<std::string>& exempt, std::string_view what) {
    const auto has = [](const std::vector<std::string>& list,
                        const std::string& name) {
      return std::ranges::find(list, name) != list.end();
    };
    for (const std::string& name : names) {
      if (has(wanted, name) || has(exempt, name)) continue;
      complaints_.push_back(path + "." + name + " is " + std::string(what));
    }
  }

  std::string_view rest_;
  std::vector<std::string> none_allowed_;
  std::vector<std::string> complaints_;
};

// All complaints, one a line; empty when the contract is kept.
inline std::string broken_unknowns(const std::string& json,
                                   std::vector<std::string> none_allowed = {}) {
  if (!test::JsonCheck(json).is_valid()) return "not JSON: " + json;
  const UnknownsCheck check(json, std::move(none_allowed));
  std::string text;
  for (const std::string& one : check.complaints())
    text += one + "\n";
  return text;
}

}  // namespace tidemark::view
