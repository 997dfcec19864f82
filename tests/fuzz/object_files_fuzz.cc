// What tells of memory objects: every parser reads every text. Beside a crash
// it is wrong to make up a number: one read from a link must stand in it.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/object_files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;  // NOLINT(google-build-using-namespace)
  const std::string text(data, data + size);
  const parse::DescriptorLink link = parse::parse_descriptor_link(text);
  if (text.find(link.name) == std::string::npos) std::abort();
  if (link.inode_id != 0 &&
      text.find(std::to_string(link.inode_id)) == std::string::npos) {
    std::abort();
  }
  (void)parse::parse_object_fdinfo(text);
  (void)parse::parse_sysvipc_shm(text);
  return 0;
}
