#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace tidemark::base {
namespace {

ErrorKind kind_of_errno(int err) {
  switch (err) {
    case ENOENT:
    case ENOTDIR:
      return ErrorKind::NotFound;
    case EACCES:
    case EPERM:
      return ErrorKind::Denied;
    case ESRCH:
      return ErrorKind::Gone;
    case ENOSPC:
    case EDQUOT:
      return ErrorKind::NoSpace;
    case EPIPE:
      return ErrorKind::Closed;
    case EOPNOTSUPP:
    case ENOSYS:
      return ErrorKind::Unsupported;
    default:
      return ErrorKind::System;
  }
}

}  // namespace

Error fail(ErrorKind kind, std::string what, std::string hint) {
  return Error{kind, std::move(what), std::move(hint)};
}

Error fail_errno(std::string what, int err) {
  // std::generic_category().message is strerror without its static buffer.
  return Error{kind_of_errno(err),
               std::move(what) + ": " + std::generic_category().message(err),
               {}};
}

Error within(std::string_view doing, const Error& error) {
  return Error{error.kind, std::string(doing) + ": " + error.what, error.hint};
}

}  // namespace tidemark::base
