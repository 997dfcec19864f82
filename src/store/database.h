// A thin owner of SQLite's handles. The only place, with its .cc, that knows
// the C API's manners; everything else in store/ speaks SQL through it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tidemark::store {

class Database;

// One prepared statement, used again and again. Columns and parameters count
// from 0 here, both.
class Statement {
 public:
  Statement() = default;

  // NULL for an empty optional. A text may hold any bytes but must outlive the
  // next step.
  void bind(int parameter, int64_t value);
  void bind(int parameter, std::optional<int64_t> value);
  void bind(int parameter, std::string_view text);
  void bind_null(int parameter);

  // True when there is a row. After the last the statement is ready again.
  base::Result<bool> step();
  // For statements without rows. Bindings stay.
  base::Status run();
  void reset();

  int64_t integer(int column) const;  // 0 for NULL
  std::optional<int64_t> maybe_integer(int column) const;
  double real(int column) const;
  // Valid until the next step.
  std::string_view text(int column) const;
  bool is_null(int column) const;
  bool is_real(int column) const;
  int column_count() const;
  std::string column_name(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

enum class OpenMode {
  Create,     // must not exist yet
  ReadWrite,  // must exist
  ReadOnly,   // must exist; never changed, not even by opening it
};

class Database {
 public:
  static base::Result<Database> open(const std::string& path, OpenMode mode);

  // One or more statements without results.
  base::Status execute(const std::string& sql);
  base::Result<Statement> prepare(std::string_view sql);
  // The first column of the first row, 0 when there is none.
  base::Result<int64_t> integer(std::string_view sql);
  base::Result<bool> has_table(std::string_view name);

  // A function of integers for SQL: what it refuses in a WHERE has none of its
  // other columns unpacked. Given again, it takes the place of the former. One
  // that takes what it is shown and refuses it reads a row at half the price of
  // a step and its columns.
  using Filter = std::function<bool(std::span<const int64_t>)>;
  static constexpr int64_t kNull = std::numeric_limits<int64_t>::min();
  base::Status set_filter(const std::string& name, int argument_count,
                          Filter filter);
  // That no filter has yet; it begins like `name`.
  std::string unused_filter_name(const std::string& name) const {
    return name + std::to_string(filters_.size());
  }

  // False once SQLite has rolled a transaction back by itself.
  bool is_in_transaction() const;
  // Copies what the log holds into the file. `truncate` also empties the log.
  base::Status checkpoint(bool truncate);
  // How long others that hold the file are waited for.
  void set_patience_ms(int milliseconds);
  // A commit leaves so many pages in the log before it checkpoints itself.
  void set_checkpoint_pages(int pages);

  const std::string& path() const { return path_; }
  // Opened for reading without a log beside it: nobody writes to it, and any
  // other connection sees the same.
  bool is_unchanging() const { return is_unchanging_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database() = default;
  base::Error error(std::string_view doing) const;

  std::map<std::string, std::unique_ptr<Filter>>
      filters_;  // handle_ calls them
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
  bool is_unchanging_ = false;
};

// Goes through the rows of one query.
base::Status each_row(Database& database, const std::string& sql,
                      const std::function<void(const Statement&)>& visit);

}  // namespace tidemark::store
