#include "store/push_queue.h"

#include <sys/stat.h>

#include <utility>

namespace tidemark::store {
namespace {

using base::ErrorKind;

constexpr const char* kQueueTable =
    "CREATE TABLE push_batch(id INTEGER PRIMARY KEY AUTOINCREMENT, "
    "bytes TEXT NOT NULL) STRICT;";

base::Result<Database> open_or_create(const std::string& path) {
  struct stat info {};
  const bool is_new = ::stat(path.c_str(), &info) != 0 || info.st_size == 0;
  if (!is_new) return Database::open(path, OpenMode::ReadWrite);
  return Database::open(path, OpenMode::Create);
}

}  // namespace

PushQueue::PushQueue(Database database, uint64_t most_bytes)
    : database_(std::make_unique<Database>(std::move(database))),
      most_bytes_(most_bytes) {}

base::Result<PushQueue> PushQueue::open(const std::string& path,
                                        uint64_t most_bytes) {
  base::Result<Database> database = open_or_create(path);
  if (!database) return database.error();
  PushQueue queue(std::move(*database), most_bytes);
  base::Status status = queue.prepare();
  if (!status) return status.error();
  return queue;
}

base::Status PushQueue::prepare() {
  // Exclusive: two senders would send everything twice; the other will not end
  // because we wait. FULL: what was taken must be there after a power cut.
  database_->set_patience_ms(100);
  base::Status status = database_->execute(
      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; "
      "PRAGMA synchronous=FULL; BEGIN IMMEDIATE; COMMIT;");
  if (!status) return status;
  base::Result<bool> has_table = database_->has_table("push_batch");
  if (!has_table) return has_table.error();
  if (!*has_table) {
    base::Result<int64_t> others =
        database_->integer("SELECT count(*) FROM sqlite_schema");
    if (!others) return others.error();
    if (*others > 0) {
      return base::fail(ErrorKind::Malformed,
                        database_->path() + ": it is no queue of metrics");
    }
    status = database_->execute(kQueueTable);
    if (!status) return status;
  }
  const std::pair<Statement*, const char*> statements[] = {
      {&append_, "INSERT INTO push_batch(bytes) VALUES(?)"},
      {&front_, "SELECT id, bytes FROM push_batch ORDER BY id LIMIT 1"},
      {&remove_, "DELETE FROM push_batch WHERE id = ?"},
  };
  for (const auto& [statement, sql] : statements) {
    base::Result<Statement> made = database_->prepare(sql);
    if (!made) return made.error();
    *statement = std::move(*made);
  }
  base::Result<int64_t> count =
      database_->integer("SELECT count(*) FROM push_batch");
  base::Result<int64_t> bytes = database_->integer(
      "SELECT sum(length(CAST(bytes AS BLOB))) FROM push_batch");
  if (!count) return count.error();
  if (!bytes) return bytes.error();
  batch_count_ = static_cast<uint64_t>(*count);
  bytes_ = static_cast<uint64_t>(*bytes);
  return base::Ok{};
}

base::Status PushQueue::append(std::string_view bytes) {
  if (bytes_ + bytes.size() > most_bytes_) {
    return base::fail(ErrorKind::NoSpace,
                      database_->path() + ": the queue is full");
  }
  append_.bind(0, bytes);
  base::Status status = append_.run();
  if (!status) return status;
  ++batch_count_;
  bytes_ += bytes.size();
  return base::Ok{};
}

base::Result<std::optional<QueuedBatch>> PushQueue::front() {
  std::optional<QueuedBatch> batch;
  base::Result<bool> has_row = front_.step();
  if (!has_row) return has_row.error();
  if (*has_row) {
    batch = QueuedBatch{front_.integer(0), std::string(front_.text(1))};
  }
  front_.reset();
  return batch;
}

base::Status PushQueue::remove(int64_t id) {
  base::Result<std::optional<QueuedBatch>> first = front();
  if (!first) return first.error();
  if (!*first || (*first)->id != id) {
    return base::fail(ErrorKind::NotFound,
                      database_->path() + ": that batch is not the first");
  }
  remove_.bind(0, id);
  base::Status status = remove_.run();
  if (!status) return status;
  --batch_count_;
  bytes_ -= (*first)->bytes.size();
  return base::Ok{};
}

}  // namespace tidemark::store
