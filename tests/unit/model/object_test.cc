#include "model/object.h"

#include <gtest/gtest.h>

#include <set>

namespace tidemark::model {
namespace {

std::string id_of(ObjectKey key, std::string_view name = "") {
  return object_id(key, name);
}

TEST(ObjectId, IsWhatOnePersonCanTypeToAnother) {
  EXPECT_EQ(id_of({ObjectKind::File, 0xfe, 0, 12345, 0}), "file:fe:00:12345");
  EXPECT_EQ(id_of({ObjectKind::Memfd, 0, 0, 1054, 0}), "memfd:1054");
  EXPECT_EQ(id_of({ObjectKind::Sysv, 0, 0, 3, 4026531839}),
            "sysv:4026531839:3");
  EXPECT_EQ(id_of({ObjectKind::PrivateCopy, 0, 0, 0x7f00, 42}), "copy:42:7f00");
  EXPECT_EQ(id_of({ObjectKind::Handle, 0, 0, 5, 0}, "eventfd"), "anon:eventfd");
  EXPECT_EQ(id_of({ObjectKind::Pipe, 0, 0x1b, 9, 0}), "pipe:00:1b:9");
}

TEST(ObjectId, OfADeletedFileStaysTheSame) {
  MemoryObject object;
  object.key = {ObjectKind::File, 8, 1, 7, 0};
  const std::string before = object_id(object);
  object.kind = ObjectKind::DeletedFile;
  EXPECT_EQ(object_id(object), before);
}

TEST(ObjectKind, EachHasNamesOfItsOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> tokens;
  for (size_t i = 0; i < kObjectKindCount; ++i) {
    names.insert(object_kind_name(static_cast<ObjectKind>(i)));
    tokens.insert(object_kind_token(static_cast<ObjectKind>(i)));
  }
  EXPECT_EQ(names.size(), kObjectKindCount);
  EXPECT_EQ(tokens.size(), kObjectKindCount);
}

TEST(ObjectRights, AddUp) {
  ObjectRights rights = {true, false, false};
  rights.add({false, false, true});
  EXPECT_EQ(rights_letters(rights), "r-x");
}

}  // namespace
}  // namespace tidemark::model
