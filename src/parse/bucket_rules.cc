#include "parse/bucket_rules.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/escape.h"
#include "parse/json_lines.h"

namespace tidemark::parse {
namespace {

using Json = nlohmann::json;
using model::BucketRule;

constexpr size_t kMostRules = 10000;
constexpr size_t kMostNameBytes = 200;

// Takes the values as the parser meets them: a tree of them would not know
// their lines. The names are the library's.
class RuleTaker {
 public:
  explicit RuleTaker(const size_t* line) : line_(line) {}

  bool null() { return refuse("null"); }
  bool boolean(bool /*value*/) { return refuse("true or false"); }
  bool number_integer(int64_t /*value*/) { return refuse("a number"); }
  bool number_unsigned(uint64_t /*value*/) { return refuse("a number"); }
  bool number_float(double /*value*/, const std::string& /*text*/) {
    return refuse("a number");
  }
  bool binary(const Json::binary_t& /*value*/) { return refuse("bytes"); }
  bool string(std::string& text) {
    if (!in_rule_) return refuse("text");
    return take_member(text);
  }
  bool start_array(size_t /*count*/) {
    if (in_list_) return refuse("a list");
    in_list_ = true;
    return true;
  }
  bool end_array() { return true; }
  bool start_object(size_t /*count*/) {
    if (!in_list_ || in_rule_) return refuse("an object");
    if (rules.size() >= kMostRules) return stop("more rules than anyone needs");
    in_rule_ = true;
    rules.emplace_back();
    has_name_ = has_process_ = has_vmo_ = has_cgroup_ = false;
    return true;
  }
  bool key(const std::string& name) {
    key_ = name;
    return true;
  }
  bool end_object() {
    in_rule_ = false;
    return has_name_ || stop("it has no 'name'");
  }
  template <typename Exception>
  bool parse_error(size_t /*byte*/, const std::string& /*token*/,
                   const Exception& /*error*/) {
    return stop("this is no JSON");
  }

  std::vector<BucketRule> rules;
  std::optional<base::Error> error;

 private:
  bool stop(const std::string& what) {
    std::string where = "line " + std::to_string(*line_);
    const bool is_of_rule = in_rule_ || (!rules.empty() && !has_name_);
    if (is_of_rule) {
      where += ", rule " + std::to_string(rules.size());
      const std::string& name = rules.back().name;
      if (!name.empty()) where += " (" + base::visible(name) + ")";
    }
    error = base::fail(base::ErrorKind::Malformed,
                       "bucket rules: " + where + ": " + what,
                       "rules are a list of {\"name\", \"process\", \"vmo\", "
                       "\"cgroup\"}; see `tidemark buckets --help`");
    return false;
  }
  bool refuse(const std::string& found) {
    if (!in_list_) return stop("rules are a list, not " + found);
    if (!in_rule_) return stop("a rule is an object, not " + found);
    return stop("'" + base::visible(key_) + "' is " + found +
                " and should be text");
  }
  bool take_name(const std::string& text) {
    if (text.empty()) return stop("its name is empty");
    if (text.size() > kMostNameBytes) return stop("its name is too long");
    rules.back().name = text;
    return true;
  }
  bool take_pattern(const std::string& text, base::Pattern& target) {
    base::Result<base::Pattern> pattern = base::Pattern::compile(text);
    if (!pattern) {
      return stop("'" + key_ +
                  "' is no regular expression: " + pattern.error().what);
    }
    target = std::move(*pattern);
    return true;
  }
  bool take_member(const std::string& text) {
    BucketRule& rule = rules.back();
    const auto once = [&](bool& has) {
      if (has) return stop("'" + key_ + "' comes twice");
      has = true;
      return true;
    };
    if (key_ == "name") return once(has_name_) && take_name(text);
    if (key_ == "process") {
      return once(has_process_) && take_pattern(text, rule.process);
    }
    if (key_ == "vmo") return once(has_vmo_) && take_pattern(text, rule.vmo);
    if (key_ == "cgroup") {
      return once(has_cgroup_) && take_pattern(text, rule.cgroup);
    }
    return stop("'" + base::visible(key_) + "' is no part of a rule");
  }

  const size_t* line_;
  bool in_list_ = false;
  bool in_rule_ = false;
  bool has_name_ = false;
  bool has_process_ = false;
  bool has_vmo_ = false;
  bool has_cgroup_ = false;
  std::string key_;
};

}  // namespace

base::Result<std::vector<BucketRule>> parse_bucket_rules(
    std::string_view text) {
  size_t line = 1;
  RuleTaker taker(&line);
  base::Status status = take_json<Json>(text, "bucket rules", line, taker);
  if (!status) return status.error();
  return std::move(taker.rules);
}

}  // namespace tidemark::parse
