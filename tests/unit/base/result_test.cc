#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace tidemark::base {
namespace {

TEST(Result, HoldsTheValue) {
  Result<int> result = 7;
  ASSERT_TRUE(result);
  EXPECT_EQ(*result, 7);
}

TEST(Result, HoldsTheError) {
  Result<int> result = fail(ErrorKind::Malformed, "not a number", "try 7");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(),
            (Error{ErrorKind::Malformed, "not a number", "try 7"}));
}

TEST(Result, MovesAValueThatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  std::unique_ptr<int> taken = std::move(*result);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, ReachesMembersOfTheValue) {
  Result<std::string> result = std::string("four");
  EXPECT_EQ(result->size(), 4U);
}

TEST(Fail, LeavesTheHintEmptyUnlessGiven) {
  EXPECT_EQ(fail(ErrorKind::System, "broken").hint, "");
}

TEST(FailErrno, SaysWhatTheKernelSaid) {
  EXPECT_EQ(fail_errno("/proc/42/smaps", EACCES).what,
            "/proc/42/smaps: Permission denied");
}

TEST(FailErrno, TellsAbsentDeniedGoneAndUnsupportedApart) {
  EXPECT_EQ(fail_errno("x", ENOENT).kind, ErrorKind::NotFound);
  EXPECT_EQ(fail_errno("x", ENOTDIR).kind, ErrorKind::NotFound);
  EXPECT_EQ(fail_errno("x", EACCES).kind, ErrorKind::Denied);
  EXPECT_EQ(fail_errno("x", EPERM).kind, ErrorKind::Denied);
  EXPECT_EQ(fail_errno("x", ESRCH).kind, ErrorKind::Gone);
  EXPECT_EQ(fail_errno("x", EOPNOTSUPP).kind, ErrorKind::Unsupported);
  EXPECT_EQ(fail_errno("x", EIO).kind, ErrorKind::System);
}

TEST(Within, PrefixesWhatWasBeingDoneAndKeepsTheRest) {
  const Error inner = fail(ErrorKind::Denied, "stat: no", "be root");
  EXPECT_EQ(within("process 42", inner),
            (Error{ErrorKind::Denied, "process 42: stat: no", "be root"}));
}

}  // namespace
}  // namespace tidemark::base
