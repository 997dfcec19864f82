#include "parse/trace_format.h"

#include <gtest/gtest.h>

namespace tidemark::parse {
namespace {

constexpr std::string_view kAlloc =
    "name: mm_page_alloc\n"
    "ID: 653\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] filename;\toffset:32;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned long caller[];\toffset:40;\tsize:0;\tsigned:0;\n"
    "\n"
    "print fmt: \"page=%p pfn=0x%lx\", REC->pfn; size:9;\n";

TEST(TraceFormat, TellsWhereFieldsLie) {
  base::Result<TraceFormat> format = parse_trace_format(kAlloc);
  ASSERT_TRUE(format) << format.error().what;
  EXPECT_EQ(format->name, "mm_page_alloc");
  EXPECT_EQ(format->id, 653U);
  EXPECT_EQ(format->fields.size(), 6U);
  ASSERT_NE(format->find("pfn"), nullptr);
  EXPECT_EQ(*format->find("pfn"), (TraceField{"pfn", 8, 8}));
  EXPECT_EQ(*format->find("comm"), (TraceField{"comm", 16, 16}));
  EXPECT_EQ(*format->find("filename"), (TraceField{"filename", 32, 4}));
  EXPECT_EQ(*format->find("caller"), (TraceField{"caller", 40, 0}));
  EXPECT_EQ(format->find("nothing"), nullptr);
}

TEST(TraceFormat, RefusesWhatItCannotRead) {
  for (std::string_view text :
       {"", "name: x\n", "ID: x\n", "ID: 99999999999\n",
        "ID: 1\nfield:int a;\toffset:x;\tsize:4;\n",
        "ID: 1\nfield:int a;\toffset:4;\n", "ID: 1\nfield:;offset:1;size:1;\n",
        "ID: 1\nfield:int a;offset:4294967296;size:1;\n"}) {
    EXPECT_FALSE(parse_trace_format(text)) << text;
  }
}

TEST(TraceFormat, FieldsAloneNeedNoId) {
  base::Result<std::vector<TraceField>> fields = parse_trace_fields(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n");
  ASSERT_TRUE(fields) << fields.error().what;
  ASSERT_EQ(fields->size(), 2U);
  EXPECT_EQ((*fields)[1], (TraceField{"commit", 8, 8}));
}

TEST(TraceFormat, ReadsTextUpToItsZero) {
  const std::string record("ab\0cdef", 7);
  EXPECT_EQ(read_text_field(record, {"a", 0, 5}), "ab");
  EXPECT_EQ(read_text_field(record, {"a", 3, 2}), "cd");
  EXPECT_EQ(read_text_field(record, {"a", 5, 16}), "ef");
  EXPECT_EQ(read_text_field(record, {"a", 9, 16}), "");
}

TEST(TraceFormat, ReadsTextThatTheRecordHasAtItsEnd) {
  // Of eleven bytes at 4; and places that are none.
  const std::string record("\x04\x00\x0b\x00some\0thing!", 14);
  EXPECT_EQ(read_dynamic_text_field(record, {"name", 0, 4}), "some");
  EXPECT_EQ(read_dynamic_text_field(record, {"name", 5, 4}), "");
  EXPECT_EQ(read_dynamic_text_field(record, {"name", 12, 4}), "");
  EXPECT_EQ(read_dynamic_text_field(record, {"name", 0, 8}), "");
}

TEST(TraceFormat, ReadsNumbersThatLieInTheRecord) {
  const std::string record("\x01\x02\x03\x04\x05\x06\x07\x08\x09", 9);
  EXPECT_EQ(read_field(record, {"a", 1, 1}), 2U);
  EXPECT_EQ(read_field(record, {"a", 1, 2}), 0x0302U);
  EXPECT_EQ(read_field(record, {"a", 1, 4}), 0x05040302U);
  EXPECT_EQ(read_field(record, {"a", 1, 8}), 0x0908070605040302U);
  EXPECT_FALSE(read_field(record, {"a", 2, 8})) << "ends behind the record";
  EXPECT_FALSE(read_field(record, {"a", 0xffffffff, 8}));
  EXPECT_FALSE(read_field(record, {"a", 0, 3})) << "no number";
  EXPECT_FALSE(read_field(record, {"a", 0, 0}));
}

}  // namespace
}  // namespace tidemark::parse
