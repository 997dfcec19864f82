#include "store/database.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <utility>

namespace tidemark::store {
namespace {

using base::ErrorKind;

ErrorKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return ErrorKind::NoSpace;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorKind::Malformed;
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return ErrorKind::Denied;
    default:
      return ErrorKind::System;
  }
}

// SQLite knows errno where a system call failed, and says it better.
base::Error error_of(sqlite3* handle, const std::string& path,
                     std::string_view doing) {
  std::string what = path;
  if (!doing.empty()) what += ": " + std::string(doing);
  const int code =
      handle != nullptr ? sqlite3_extended_errcode(handle) : SQLITE_NOMEM;
  const int system = handle != nullptr ? sqlite3_system_errno(handle) : ENOMEM;
  const bool is_system =
      (code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_IOERR;
  if (is_system && system != 0) return base::fail_errno(what, system);
  return base::fail(kind_of(code), what + ": " + sqlite3_errmsg(handle));
}

constexpr int kMostArguments = 16;

void call_filter(sqlite3_context* context, int count, sqlite3_value** values) {
  std::array<int64_t, kMostArguments> arguments{};
  for (int i = 0; i < count; ++i) {
    // NULL is 0 as a number, so that only zeros need a second look.
    const int64_t number = sqlite3_value_int64(values[i]);
    const bool is_null =
        number == 0 && sqlite3_value_type(values[i]) == SQLITE_NULL;
    arguments[static_cast<size_t>(i)] = is_null ? Database::kNull : number;
  }
  const auto* filter =
      static_cast<const Database::Filter*>(sqlite3_user_data(context));
  const std::span all(arguments);
  sqlite3_result_int(context,
                     (*filter)(all.first(static_cast<size_t>(count))) ? 1 : 0);
}

int64_t size_if_there(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_size : -1;
}

// A file in a directory we may not write cannot be opened in the ordinary way
// once its log is there or was meant to be; without a log it cannot change
// under us either, and is read as it is.
std::string address_of(const std::string& path, bool is_unchanging) {
  std::string address = "file:";
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain =
        byte > ' ' && byte < 0x7f && c != '%' && c != '?' && c != '#';
    if (is_plain) {
      address += c;
    } else {
      address += '%';
      address += kHex[byte >> 4];
      address += kHex[byte & 15];
    }
  }
  if (is_unchanging) address += "?immutable=1";
  return address;
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close(handle);
}

void Statement::bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter + 1, value);
}

void Statement::bind(int parameter, std::optional<int64_t> value) {
  if (value) {
    bind(parameter, *value);
  } else {
    bind_null(parameter);
  }
}

void Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter + 1,
                      text.empty() ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind_null(int parameter) {
  sqlite3_bind_null(statement_.get(), parameter + 1);
}

base::Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  sqlite3* handle = sqlite3_db_handle(statement_.get());
  base::Error error = error_of(handle, sqlite3_db_filename(handle, "main"), "");
  sqlite3_reset(statement_.get());
  return error;
}

base::Status Statement::run() {
  base::Result<bool> row = step();
  if (!row) return row.error();
  if (*row) reset();
  return base::Ok{};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<int64_t> Statement::maybe_integer(int column) const {
  // Asked for once: finding the column is what costs.
  sqlite3_value* value = sqlite3_column_value(statement_.get(), column);
  if (sqlite3_value_type(value) == SQLITE_NULL) return std::nullopt;
  return sqlite3_value_int64(value);
}

double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

std::string_view Statement::text(int column) const {
  const void* bytes = sqlite3_column_text(statement_.get(), column);
  const int length = sqlite3_column_bytes(statement_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<size_t>(length)};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

bool Statement::is_real(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_FLOAT;
}

int Statement::column_count() const {
  return sqlite3_column_count(statement_.get());
}

std::string Statement::column_name(int column) const {
  return sqlite3_column_name(statement_.get(), column);
}

base::Result<Database> Database::open(const std::string& path, OpenMode mode) {
  const int64_t size = size_if_there(path);
  if (mode == OpenMode::Create && size >= 0) {
    return base::fail(ErrorKind::Misused, path + ": it exists already");
  }
  if (mode != OpenMode::Create && size < 0) {
    return base::fail_errno(path, errno);
  }
  const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
                    (mode == OpenMode::ReadOnly ? SQLITE_OPEN_READONLY
                     : mode == OpenMode::ReadWrite
                         ? SQLITE_OPEN_READWRITE
                         : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  Database database;
  database.path_ = path;
  database.is_unchanging_ =
      mode == OpenMode::ReadOnly && size_if_there(path + "-wal") <= 0;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(address_of(path, database.is_unchanging_).c_str(),
                      &handle, flags, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return database.error("");
  sqlite3_extended_result_codes(handle, 1);
  constexpr int kBusyMs = 5000;
  sqlite3_busy_timeout(handle, kBusyMs);
  return database;
}

base::Error Database::error(std::string_view doing) const {
  return error_of(handle_.get(), path_, doing);
}

base::Status Database::execute(const std::string& sql) {
  const int code =
      sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error("");
  return base::Ok{};
}

base::Result<Statement> Database::prepare(std::string_view sql) {
  Statement statement;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(),
                                      static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  statement.statement_.reset(raw);
  if (code != SQLITE_OK) return error("");
  return statement;
}

base::Status Database::set_filter(const std::string& name, int argument_count,
                                  Filter filter) {
  if (argument_count > kMostArguments) {
    return base::fail(ErrorKind::Misused, "a filter of too many arguments");
  }
  // SQLite lets no function be replaced while any statement runs, so it is
  // told once of the place where the function stands.
  std::unique_ptr<Filter>& slot = filters_[name];
  if (slot) {
    *slot = std::move(filter);
    return base::Ok{};
  }
  slot = std::make_unique<Filter>(std::move(filter));
  const int code =
      sqlite3_create_function_v2(handle_.get(), name.c_str(), argument_count,
                                 // No view of a hostile file may call it.
                                 SQLITE_UTF8 | SQLITE_DIRECTONLY, slot.get(),
                                 call_filter, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) {
    filters_.erase(name);
    return error("");
  }
  return base::Ok{};
}

base::Result<int64_t> Database::integer(std::string_view sql) {
  base::Result<Statement> statement = prepare(sql);
  if (!statement) return statement.error();
  base::Result<bool> row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

base::Result<bool> Database::has_table(std::string_view name) {
  base::Result<Statement> statement = prepare(
      "SELECT 1 FROM sqlite_schema WHERE type IN ('table','view') AND name=?");
  if (!statement) return statement.error();
  statement->bind(0, name);
  return statement->step();
}

bool Database::is_in_transaction() const {
  return sqlite3_get_autocommit(handle_.get()) == 0;
}

base::Status Database::checkpoint(bool truncate) {
  const int code = sqlite3_wal_checkpoint_v2(
      handle_.get(), nullptr,
      truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
      nullptr, nullptr);
  // A reader that holds an old state keeps the log; that is no failure.
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) return error("");
  return base::Ok{};
}

void Database::set_patience_ms(int milliseconds) {
  sqlite3_busy_timeout(handle_.get(), milliseconds);
}

void Database::set_checkpoint_pages(int pages) {
  sqlite3_wal_autocheckpoint(handle_.get(), pages);
}

base::Status each_row(Database& database, const std::string& sql,
                      const std::function<void(const Statement&)>& visit) {
  base::Result<Statement> rows = database.prepare(sql);
  if (!rows) return rows.error();
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    visit(*rows);
  }
}

}  // namespace tidemark::store
