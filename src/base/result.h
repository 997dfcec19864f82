// Errors as values. A reader of the running kernel fails all the time in the
// ordinary course of work (a process ends between readdir and open), so failure
// is a return value here and never an exception.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tidemark::base {

enum class ErrorKind {
  NotFound,     // no such file, process or name
  Denied,       // the kernel or the file mode says no
  Gone,         // it was there and has ended since
  Malformed,    // the text is not what the format promises
  Unsupported,  // this kernel or this build cannot
  Misused,      // the caller asked for something that makes no sense
  NoSpace,      // the disk is full
  Closed,       // whoever read our output has gone away (EPIPE)
  System,       // everything else an errno can say
};

struct Error {
  ErrorKind kind = ErrorKind::System;
  std::string what;  // "/proc/42/smaps: Permission denied"
  std::string hint;  // what the user can do about it; may be empty
  bool operator==(const Error&) const = default;
};

// The part of std::expected<T, Error> we use, under the same names: <expected>
// needs C++23, and clang 14 rejects libstdc++'s even then.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: `return value;`
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: `return fail();`

  explicit operator bool() const { return state_.index() == 0; }

  // Asking for the side that is not there is our bug, and terminates.
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

struct Ok {};
using Status = Result<Ok>;

// The three makers are the only way to an Error, so that a later move to
// std::unexpected stays in this file.
Error fail(ErrorKind kind, std::string what, std::string hint = {});
// ENOENT becomes NotFound, EACCES and EPERM Denied, ESRCH Gone, EPIPE Closed,
// ENOSPC and EDQUOT NoSpace.
Error fail_errno(std::string what, int err);
// Prefixes `what` with what we were doing.
Error within(std::string_view doing, const Error& error);

}  // namespace tidemark::base
