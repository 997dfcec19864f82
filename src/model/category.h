// The kinds of memory, in stack order. This is the only list: text, JSON, SQL,
// metrics and colours all use it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::model {

enum class Category : uint8_t {
  Heap,     // [heap], malloc arenas, named allocator areas
  Anon,     // the rest of private anonymous memory
  Stack,    // [stack] and threads' stacks with their guards
  Shm,      // memfd, tmpfs, SysV, shared anonymous
  File,     // file mappings that are no program image, and page cache
  Code,     // ELF images: text, rodata, data and bss
  Huge,     // hugetlb
  Swap,     // swapped out, and zram
  Slab,     // the kernel's small-object caches
  Ptab,     // page tables
  Kern,     // kernel stacks, vmalloc, per-CPU, sockets, the rest it tells
  Wired,    // reserved at boot
  Free,     // nobody's
  Unnamed,  // no source explains it
};

inline constexpr size_t kCategoryCount = 14;

inline constexpr std::array<Category, kCategoryCount> kCategories = {
    Category::Heap, Category::Anon,    Category::Stack, Category::Shm,
    Category::File, Category::Code,    Category::Huge,  Category::Swap,
    Category::Slab, Category::Ptab,    Category::Kern,  Category::Wired,
    Category::Free, Category::Unnamed,
};

// "heap": the word used in JSON, CSV, SQL and metrics.
std::string_view category_token(Category category);

// "program and libraries": the words people read.
std::string_view category_name(Category category);

std::optional<Category> category_from_token(std::string_view token);

}  // namespace tidemark::model
