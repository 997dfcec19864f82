#include "source/process_parts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/file.h"
#include "unit/source/temporary_tree.h"

namespace tidemark::source {
namespace {

// A file and, right behind it, memory that could be its bss.
std::vector<model::Mapping> file_and_memory(bool is_shared) {
  model::Mapping file;
  file.start_address = 0x10000;
  file.end_address = 0x20000;
  file.permissions = {true, true, false, is_shared};
  file.device_major = 8;
  file.inode_id = 42;
  file.name = "/program";
  model::Mapping memory;
  memory.start_address = 0x20000;
  memory.end_address = 0x30000;
  memory.permissions = {true, true, false, false};
  return {file, memory};
}

class ReadImages : public testing::Test {
 protected:
  ReadImages() {
    std::ifstream self("/proc/self/exe", std::ios::binary);
    std::string head(4096, '\0');
    self.read(head.data(), static_cast<std::streamsize>(head.size()));
    tree_.add("root/program", head);
  }
  test::TemporaryTree tree_;
};

TEST_F(ReadImages, FindsTheFileThatMemoryBelongsTo) {
  base::Result<base::Directory> directory = base::open_directory(tree_.path());
  ASSERT_TRUE(directory) << directory.error().what;
  EXPECT_EQ(read_images(*directory, file_and_memory(false)).size(), 1U);
}

// Closing it would give up the locks that this process has on it, which
// SQLite's are when it is the index of our own recording.
TEST_F(ReadImages, DoesNotOpenWhatIsShared) {
  base::Result<base::Directory> directory = base::open_directory(tree_.path());
  ASSERT_TRUE(directory) << directory.error().what;
  EXPECT_TRUE(read_images(*directory, file_and_memory(true)).empty());
}

}  // namespace
}  // namespace tidemark::source
