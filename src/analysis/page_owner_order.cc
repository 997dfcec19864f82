#include "analysis/page_owner_order.h"

#include <string>

#include "base/escape.h"
#include "base/text.h"

namespace tidemark::analysis {
namespace {

struct GroupWord {
  std::string_view word;
  std::string_view letters;
  bool PageOwnerGrouping::*member;
};
constexpr GroupWord kGroupWords[] = {
    {"stacktrace", "st", &PageOwnerGrouping::by_stack},
    {"stack", "s", &PageOwnerGrouping::by_stack},
    {"pid", "p", &PageOwnerGrouping::by_pid},
    {"tgid", "tg", &PageOwnerGrouping::by_tgid},
    {"name", "n", &PageOwnerGrouping::by_name},
    {"allocator", "ator", &PageOwnerGrouping::by_allocator},
};

struct SortWord {
  std::string_view word;
  std::string_view letters;
  PageOwnerSortKey key;
};
constexpr SortWord kSortWords[] = {
    {"memory", "m", PageOwnerSortKey::Memory},
    {"times", "t", PageOwnerSortKey::Count},
    {"alloc_ts", "at", PageOwnerSortKey::Time},
    {"free_ts", "ft", PageOwnerSortKey::FreeTime},
    {"pid", "p", PageOwnerSortKey::Pid},
    {"tgid", "tg", PageOwnerSortKey::Tgid},
    {"name", "n", PageOwnerSortKey::Name},
    {"stacktrace", "st", PageOwnerSortKey::Stack},
    {"stack", "s", PageOwnerSortKey::Stack},
    {"allocator", "ator", PageOwnerSortKey::Allocator},
};

base::Error unknown_word(std::string_view word, std::string_view hint) {
  return base::fail(base::ErrorKind::Misused,
                    "page_owner: no key '" + base::visible(word) + "'",
                    std::string(hint));
}

bool goes_down(PageOwnerSortKey key) {
  return key == PageOwnerSortKey::Memory || key == PageOwnerSortKey::Count;
}

}  // namespace

base::Result<PageOwnerGrouping> parse_page_owner_grouping(
    std::string_view list) {
  PageOwnerGrouping grouping;
  for (const std::string_view word : base::split(list, ',')) {
    bool is_known = false;
    for (const GroupWord& known : kGroupWords) {
      if (word != known.word && word != known.letters) continue;
      grouping.*known.member = is_known = true;
    }
    if (!is_known) {
      return unknown_word(
          word, "groups are made by stacktrace, pid, tgid, name, allocator");
    }
  }
  return grouping;
}

base::Result<std::vector<PageOwnerOrder>> parse_page_owner_order(
    std::string_view list) {
  std::vector<PageOwnerOrder> orders;
  for (std::string_view word : base::split(list, ',')) {
    const bool has_minus = word.starts_with('-');
    const bool has_sign = has_minus || word.starts_with('+');
    if (has_sign) word.remove_prefix(1);
    bool is_known = false;
    for (const SortWord& known : kSortWords) {
      if (word != known.word && word != known.letters) continue;
      orders.push_back(
          {known.key, has_sign ? has_minus : goes_down(known.key)});
      is_known = true;
    }
    if (!is_known) {
      return unknown_word(word,
                          "sorted by memory, times, alloc_ts, free_ts, pid, "
                          "tgid, name, stacktrace, allocator, each with + or - "
                          "before it");
    }
  }
  return orders;
}

}  // namespace tidemark::analysis
