#include "store/trace_user_rows.h"

#include <string>
#include <utility>

#include "store/schema.h"

namespace tidemark::store {
namespace {

constexpr const char* kUserTables = R"sql(
-- Files with code of programs, in the order they were met; build_id: 0 where a
-- file has none.
CREATE TABLE trace_file(
  no INTEGER PRIMARY KEY, name INT NOT NULL, path INT NOT NULL,
  build_id INT NOT NULL) STRICT;
-- A row where one changed.
CREATE TABLE trace_user_sum(
  tick INT NOT NULL, name INT NOT NULL, count INT NOT NULL,
  PRIMARY KEY(tick, name)) STRICT, WITHOUT ROWID;
CREATE VIEW trace_files AS
  SELECT (SELECT value FROM text WHERE id = f.name) AS module,
    (SELECT value FROM text WHERE id = f.path) AS path,
    (SELECT value FROM text WHERE id = f.build_id) AS build_id
  FROM trace_file f;
CREATE VIEW trace_user_sums AS
  SELECT s.tick, (SELECT value FROM text WHERE id = s.name) AS name, s.count
  FROM trace_user_sum s;
)sql";

constexpr const char* kUserTableNames[] = {"trace_file", "trace_user_sum"};

base::Result<bool> has_user_tables(Database& database) {
  return has_section(database, kUserTableNames, "the stacks of programs");
}

struct UserNumber {
  std::string_view name;
  uint64_t model::TraceUser::*target;
};
constexpr UserNumber kUserNumbers[] = {
    {"samples", &model::TraceUser::sample_count},
    {"cut", &model::TraceUser::cut_count},
    {"ended_too_soon", &model::TraceUser::unmapped_count},
    {"unwinding_ns", &model::TraceUser::unwinding_ns},
    {"naming_ns", &model::TraceUser::naming_ns},
};
// It changes while such a trace goes on, unlike that of others.
constexpr std::string_view kUserPeriodName = "sample_period";

base::Status read_files(Database& database, model::TraceUser& user) {
  base::Result<Statement> rows = database.prepare(
      "SELECT n.value, p.value, b.value FROM trace_file f "
      "JOIN text n ON n.id = f.name JOIN text p ON p.id = f.path "
      "LEFT JOIN text b ON b.id = f.build_id ORDER BY f.no");
  if (!rows) return rows.error();
  while (true) {
    base::Result<bool> is_there = rows->step();
    if (!is_there) return is_there.error();
    if (!*is_there) return base::Ok{};
    user.images.push_back({std::string(rows->text(0)),
                           std::string(rows->text(1)),
                           std::string(rows->text(2))});
  }
}

}  // namespace

base::Status TraceUserRows::prepare(Database& database) {
  if (image_) return base::Ok{};
  base::Result<bool> is_there = has_user_tables(database);
  if (!is_there) return is_there.error();
  if (!*is_there) {
    base::Status status = database.execute(squeezed_sql(kUserTables));
    if (!status) return status;
  }
  base::Result<Statement> image =
      database.prepare("INSERT OR REPLACE INTO trace_file VALUES(?,?,?,?)");
  if (!image) return image.error();
  base::Result<Statement> sum =
      database.prepare("INSERT OR REPLACE INTO trace_user_sum VALUES(?,?,?)");
  if (!sum) return sum.error();
  image_ = std::move(*image);
  sum_ = std::move(*sum);
  return base::Ok{};
}

base::Status TraceUserRows::write_images(const model::TraceUser& user,
                                         Interned& interned) {
  for (; image_count_ < user.images.size(); ++image_count_) {
    const model::TraceImage& image = user.images[image_count_];
    image_->bind(0, static_cast<int64_t>(image_count_));
    int column = 1;
    for (const std::string* text : {&image.name, &image.path}) {
      base::Result<int64_t> id = interned.text(*text);
      if (!id) return id.error();
      image_->bind(column++, *id);
    }
    int64_t build_id = 0;
    if (!image.build_id.empty()) {
      base::Result<int64_t> id = interned.text(image.build_id);
      if (!id) return id.error();
      build_id = *id;
    }
    image_->bind(column, build_id);
    base::Status status = image_->run();
    if (!status) return status;
  }
  return base::Ok{};
}

base::Status TraceUserRows::write_sums(const model::Trace& trace, int64_t tick,
                                       Interned& interned) {
  std::map<std::string_view, int64_t> sums = {
      {kUserPeriodName, static_cast<int64_t>(trace.sample_period)}};
  for (const UserNumber& number : kUserNumbers)
    sums[number.name] = static_cast<int64_t>((*trace.user).*number.target);
  for (const auto& [name, count] : sums) {
    const auto told = sums_.find(name);
    if (told != sums_.end() && told->second == count) continue;
    base::Result<int64_t> id = interned.text(name);
    if (!id) return id.error();
    sum_->bind(0, tick);
    sum_->bind(1, *id);
    sum_->bind(2, count);
    base::Status status = sum_->run();
    if (!status) return status;
  }
  sums_ = std::move(sums);
  return base::Ok{};
}

base::Status TraceUserRows::write(const model::Trace& trace, int64_t tick,
                                  Database& database, Interned& interned) {
  if (!trace.user) return base::Ok{};
  base::Status status = prepare(database);
  if (status) status = write_images(*trace.user, interned);
  if (status) status = write_sums(trace, tick, interned);
  return status;
}

base::Status read_trace_user(Database& database, int64_t tick,
                             model::Trace& trace) {
  base::Result<bool> is_there = has_user_tables(database);
  if (!is_there) return is_there.error();
  if (!*is_there) return base::Ok{};
  base::Result<Statement> sums = database.prepare(
      "SELECT t.value, s.count FROM trace_user_sum s JOIN text t ON "
      "t.id = s.name WHERE s.tick <= ? ORDER BY s.tick");
  if (!sums) return sums.error();
  sums->bind(0, tick);
  model::TraceUser user;
  while (true) {
    base::Result<bool> row = sums->step();
    if (!row) return row.error();
    if (!*row) break;
    const int64_t count = sums->integer(1);
    const bool is_period = sums->text(0) == kUserPeriodName;
    if (count < 0 || (is_period && count == 0)) {
      return base::fail(
          base::ErrorKind::Malformed,
          database.path() + ": damaged: stacks with absurd numbers");
    }
    if (is_period) trace.sample_period = static_cast<uint64_t>(count);
    for (const UserNumber& number : kUserNumbers) {
      if (number.name == sums->text(0))
        user.*number.target = static_cast<uint64_t>(count);
    }
  }
  base::Status status = read_files(database, user);
  if (!status) return status;
  trace.user = std::move(user);
  return base::Ok{};
}

}  // namespace tidemark::store
