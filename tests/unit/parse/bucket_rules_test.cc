#include "parse/bucket_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "unit/fixture.h"

namespace tidemark::parse {
namespace {

using Rules = std::vector<model::BucketRule>;

std::string refusal(std::string_view text) {
  base::Result<Rules> rules = parse_bucket_rules(text);
  EXPECT_FALSE(rules) << text;
  return rules ? "" : rules.error().what;
}

TEST(BucketRules, ReadsAllFourMembers) {
  base::Result<Rules> rules = parse_bucket_rules(
      R"([{"name":"DB","process":"post.*","vmo":"/dev/shm/.*",)"
      R"("cgroup":"/db"},{"name":"All"}])");
  ASSERT_TRUE(rules) << rules.error().what;
  ASSERT_EQ(rules->size(), 2U);
  EXPECT_EQ((*rules)[0].name, "DB");
  EXPECT_TRUE((*rules)[0].process.matches("postgres"));
  EXPECT_TRUE((*rules)[0].vmo.matches("/dev/shm/PostgreSQL.1"));
  EXPECT_FALSE((*rules)[0].cgroup.matches("/web"));
  EXPECT_TRUE((*rules)[1].process.matches_all());
  EXPECT_TRUE((*rules)[1].vmo.matches_all());
  EXPECT_TRUE((*rules)[1].cgroup.matches_all());
}

TEST(BucketRules, NoneAreAllowed) {
  base::Result<Rules> rules = parse_bucket_rules("[]");
  ASSERT_TRUE(rules);
  EXPECT_TRUE(rules->empty());
}

TEST(BucketRules, NamesTheLineAndTheRule) {
  const std::string text =
      "[\n  {\"name\": \"One\"},\n  {\n    \"name\": \"Two\",\n"
      "    \"process\": \"a(b\"\n  }\n]\n";
  EXPECT_EQ(
      refusal(text),
      "bucket rules: line 5, rule 2 (Two): 'process' is no regular "
      "expression: parentheses that do not match, or a repeat of nothing");
}

TEST(BucketRules, RefusesWhatIsNoRule) {
  EXPECT_NE(refusal("").find("no JSON"), std::string::npos);
  EXPECT_NE(refusal("[{\"name\":\"a\"}").find("no JSON"), std::string::npos);
  EXPECT_NE(refusal("{}").find("a list, not an object"), std::string::npos);
  EXPECT_NE(refusal("7").find("a list, not a number"), std::string::npos);
  EXPECT_NE(refusal("[7]").find("an object, not a number"), std::string::npos);
  EXPECT_NE(refusal("[{}]").find("no 'name'"), std::string::npos);
  EXPECT_NE(refusal(R"([{"name":""}])").find("empty"), std::string::npos);
  EXPECT_NE(refusal(R"([{"name":"a","vmo":7}])").find("should be text"),
            std::string::npos);
  EXPECT_NE(refusal(R"([{"name":"a","vmo":["b"]}])").find("should be text"),
            std::string::npos);
  EXPECT_NE(refusal(R"([{"name":"a","vmo":{}}])").find("should be text"),
            std::string::npos);
  EXPECT_NE(refusal(R"([{"name":"a","name":"b"}])").find("twice"),
            std::string::npos);
}

TEST(BucketRules, RefusesAMisspeltConditionThatWouldMatchAll) {
  EXPECT_EQ(refusal(R"([{"name":"a","proces":"b"}])"),
            "bucket rules: line 1, rule 1 (a): 'proces' is no part of a rule");
}

TEST(BucketRules, EscapesNamesOfStrangersInMessages) {
  const std::string what =
      refusal("[{\"name\":\"a\\u001b[31m\",\"vmo\":\"(\"}]");
  EXPECT_EQ(what.find('\x1b'), std::string::npos) << what;
}

TEST(BucketRules, DeepNestingIsRefusedAndNotFollowed) {
  EXPECT_NE(refusal(std::string(100000, '[')).find("not a list"),
            std::string::npos);
}

TEST(BucketRules, EveryTruncationOfTheBuiltInRulesIsRefused) {
  const std::string whole =
      test::read_fixture("../../share/tidemark/buckets.json");
  ASSERT_TRUE(parse_bucket_rules(whole))
      << parse_bucket_rules(whole).error().what;
  for (size_t size = 0; size < 1500; size += 7) {
    EXPECT_FALSE(parse_bucket_rules(whole.substr(0, size))) << size;
  }
}

// The first rule that would take private memory of a process of this name.
std::string built_in_bucket(const Rules& rules, std::string_view process) {
  for (const model::BucketRule& rule : rules) {
    if (rule.vmo.matches_all() && rule.cgroup.matches_all() &&
        rule.process.matches(process)) {
      return rule.name;
    }
  }
  return "";
}

TEST(BucketRules, BuiltInOnesKnowCommonPrograms) {
  base::Result<Rules> rules = parse_bucket_rules(
      test::read_fixture("../../share/tidemark/buckets.json"));
  ASSERT_TRUE(rules) << rules.error().what;
  const std::pair<const char*, const char*> known[] = {
      {"firefox-esr", "Firefox"},
      {"Isolated Web Co", "Firefox"},
      {"chrome", "Chromium and Chrome"},
      {"java", "Java"},
      {"python3 style.py", "Python"},
      {"python3.11", "Python"},
      {"postgres: checkpointer", "PostgreSQL"},
      {"mariadbd", "MySQL and MariaDB"},
      {"redis-server", "Redis and other key-value stores"},
      {"nginx: worker process", "Web servers"},
      {"php-fpm: pool www", "Web servers"},
      {"cc1plus", "Compilers and linkers"},
      {"rustc", "Compilers and linkers"},
      {"bash", "Shells"},
      {"sh build.sh", "Shells"},
      {"systemd", "systemd and its daemons"},
      {"systemd-journald", "systemd and its daemons"},
      {"containerd-shim-runc-v2", "Container runtimes"},
      {"qemu-system-x86_64", "Virtual machines"},
      {"Xorg", "X and Wayland"},
      {"gnome-shell", "GNOME, KDE and other desktops"},
      {"sshd: ann [priv]", "Remote login"},
      {"node server.js", "Node.js"},
      {"somebody", ""},
  };
  for (const auto& [process, bucket] : known) {
    EXPECT_EQ(built_in_bucket(*rules, process), bucket) << process;
  }
}

TEST(BucketRules, BuiltInOnesGiveSharedLibrariesToNobody) {
  base::Result<Rules> rules = parse_bucket_rules(
      test::read_fixture("../../share/tidemark/buckets.json"));
  ASSERT_TRUE(rules) << rules.error().what;
  const base::Pattern& first = rules->front().vmo;
  EXPECT_TRUE(first.matches("/usr/lib/x86_64-linux-gnu/libc.so.6"));
  EXPECT_TRUE(first.matches("/lib64/ld-linux-x86-64.so.2"));
  EXPECT_TRUE(first.matches("/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30"));
  EXPECT_FALSE(first.matches("/usr/lib/firefox-esr/libxul.so"));
  EXPECT_FALSE(first.matches("[heap]"));
}

}  // namespace
}  // namespace tidemark::parse
