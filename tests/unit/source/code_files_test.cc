#include "source/code_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/file.h"
#include "parse/smaps.h"

namespace tidemark::source {
namespace {

std::vector<model::Mapping> own_mappings() {
  base::Result<base::Directory> proc = base::open_directory("/proc");
  EXPECT_TRUE(proc);
  base::Result<std::string> text = base::read_file_at(*proc, "self/maps");
  EXPECT_TRUE(text);
  base::Result<std::vector<model::Mapping>> mappings = parse::parse_maps(*text);
  EXPECT_TRUE(mappings);
  return *mappings;
}

// What mmap is told of alone leads to the same place as all mappings do.
TEST(CodeFiles, FindTheBeginningOfAFileByItsCode) {
  const std::vector<model::Mapping> mappings = own_mappings();
  size_t count = 0;
  for (const CodeFile& file : code_files(mappings)) {
    const base::Fd fd(::open(file.mapping->name.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) continue;
    const std::optional<uint64_t> base = base_of_code(fd.get(), *file.mapping);
    ASSERT_TRUE(base) << file.mapping->name;
    EXPECT_EQ(*base, file.base) << file.mapping->name;
    ++count;
  }
  EXPECT_GE(count, 1U) << "this program itself";
}

TEST(CodeFiles, RefuseAFileThatTookTheNameOfAnother) {
  base::Result<Roots> roots = open_roots("/proc");
  ASSERT_TRUE(roots);
  const std::vector<model::Mapping> mappings = own_mappings();
  const std::vector<CodeFile> files = code_files(mappings);
  ASSERT_FALSE(files.empty());
  model::Mapping mapping = *files.front().mapping;
  EXPECT_TRUE(open_named(*roots, ::getpid(), mapping));
  ++mapping.inode_id;
  EXPECT_FALSE(open_named(*roots, ::getpid(), mapping));
  mapping.name = "[vdso]";
  EXPECT_FALSE(open_named(*roots, ::getpid(), mapping));
}

}  // namespace
}  // namespace tidemark::source
