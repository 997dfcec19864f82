#include "model/category.h"

#include <gtest/gtest.h>

#include <set>

namespace tidemark::model {
namespace {

TEST(Category, ListsEveryKindOnceInStackOrder) {
  for (size_t i = 0; i < kCategoryCount; ++i) {
    EXPECT_EQ(static_cast<size_t>(kCategories[i]), i);
  }
}

TEST(Category, HasAWordOfItsOwnForEveryKind) {
  std::set<std::string_view> tokens;
  std::set<std::string_view> names;
  for (Category category : kCategories) {
    tokens.insert(category_token(category));
    names.insert(category_name(category));
  }
  EXPECT_EQ(tokens.size(), kCategoryCount);
  EXPECT_EQ(names.size(), kCategoryCount);
}

TEST(Category, TokensAreLowerCaseWords) {
  for (Category category : kCategories) {
    const std::string_view token = category_token(category);
    EXPECT_EQ(token.find_first_not_of("abcdefghijklmnopqrstuvwxyz"),
              std::string_view::npos)
        << token;
  }
}

TEST(Category, WordsBelongToTheirKind) {
  EXPECT_EQ(category_token(Category::Heap), "heap");
  EXPECT_EQ(category_token(Category::Ptab), "ptab");
  EXPECT_EQ(category_token(Category::Unnamed), "unnamed");
  EXPECT_EQ(category_name(Category::Code), "program and libraries");
}

TEST(Category, IsFoundByItsToken) {
  for (Category category : kCategories) {
    EXPECT_EQ(category_from_token(category_token(category)), category);
  }
}

TEST(Category, IsNotFoundByAnotherWord) {
  for (const char* word : {"", "Heap", "heap ", "program and libraries"}) {
    EXPECT_FALSE(category_from_token(word)) << word;
  }
}

}  // namespace
}  // namespace tidemark::model
