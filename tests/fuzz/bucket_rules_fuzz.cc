// Rules of buckets, and names matched by them: read or refused with a sentence,
// never a throw, and a match always ends.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "parse/bucket_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(data, data + size);
  tidemark::base::Result<std::vector<tidemark::model::BucketRule>> rules =
      tidemark::parse::parse_bucket_rules(text);
  if (!rules) {
    if (rules.error().what.empty()) std::abort();
    return 0;
  }
  const std::string name = text.substr(0, 600);
  for (const tidemark::model::BucketRule& rule : *rules) {
    if (rule.name.empty()) std::abort();
    (void)rule.process.matches(name);
    (void)rule.vmo.matches("/usr/lib/x86_64-linux-gnu/libc.so.6");
    (void)rule.cgroup.matches(std::string(300, 'a'));
  }
  return 0;
}
