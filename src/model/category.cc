#include "model/category.h"

namespace tidemark::model {
namespace {

struct Words {
  std::string_view token;
  std::string_view name;
};

constexpr std::array<Words, kCategoryCount> kWords = {{
    {"heap", "heap"},
    {"anon", "anonymous"},
    {"stack", "thread stacks"},
    {"shm", "shared memory"},
    {"file", "files"},
    {"code", "program and libraries"},
    {"huge", "huge pages"},
    {"swap", "swapped out"},
    {"slab", "slab"},
    {"ptab", "page tables"},
    {"kern", "other kernel"},
    {"wired", "boot-reserved"},
    {"free", "free"},
    {"unnamed", "unnamed"},
}};

}  // namespace

std::string_view category_token(Category category) {
  return kWords[static_cast<size_t>(category)].token;
}

std::string_view category_name(Category category) {
  return kWords[static_cast<size_t>(category)].name;
}

std::optional<Category> category_from_token(std::string_view token) {
  for (Category category : kCategories) {
    if (category_token(category) == token) return category;
  }
  return std::nullopt;
}

}  // namespace tidemark::model
