#include "store/interned.h"

#include <optional>
#include <utility>

#include "model/category.h"

namespace tidemark::store {
namespace {

using model::SmapsField;

uint8_t permission_bits(const model::Permissions& permissions) {
  return static_cast<uint8_t>(
      (permissions.read ? 1 : 0) | (permissions.write ? 2 : 0) |
      (permissions.execute ? 4 : 0) | (permissions.shared ? 8 : 0));
}

constexpr int64_t kUnknownPageSize = -1;

int64_t page_kib(const model::Mapping& mapping, SmapsField field) {
  if (!mapping.fields.has(field)) return kUnknownPageSize;
  return static_cast<int64_t>(mapping.fields.get_or_zero(field) / 1024);
}

base::Status prepare(Database& database, std::string_view sql,
                     Statement& statement) {
  base::Result<Statement> made = database.prepare(sql);
  if (!made) return made.error();
  statement = std::move(*made);
  return base::Ok{};
}

}  // namespace

std::string vm_flag_text(uint64_t flags) {
  std::string text;
  for (size_t i = 0; i < model::kVmFlagCount; ++i) {
    if (!((flags >> i) & 1)) continue;
    if (!text.empty()) text += ' ';
    text += model::kVmFlagNames[i];
  }
  if (flags & model::kVmFlagOther) text += text.empty() ? "??" : " ??";
  return text;
}

base::Status Interned::load_texts(Database& database) {
  base::Result<Statement> rows = database.prepare("SELECT id, value FROM text");
  if (!rows) return rows.error();
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    texts_.emplace(std::string(rows->text(1)), rows->integer(0));
    next_text_ = std::max(next_text_, rows->integer(0) + 1);
  }
}

base::Status Interned::load_objects(Database& database) {
  base::Result<Statement> rows = database.prepare(
      "SELECT id, device_major, device_minor, inode, name FROM proc_object");
  if (!rows) return rows.error();
  while (true) {
    base::Result<bool> row = rows->step();
    if (!row) return row.error();
    if (!*row) return base::Ok{};
    objects_.emplace(Object(static_cast<uint32_t>(rows->integer(1)),
                            static_cast<uint32_t>(rows->integer(2)),
                            static_cast<uint64_t>(rows->integer(3)),
                            std::string(rows->text(4))),
                     rows->integer(0));
    next_object_ = std::max(next_object_, rows->integer(0) + 1);
  }
}

base::Result<Interned> Interned::load(Database& database) {
  Interned interned;
  base::Status status = interned.load_texts(database);
  if (status) status = interned.load_objects(database);
  if (status) {
    status = prepare(database, "INSERT INTO text VALUES(?,?)",
                     interned.insert_text_);
  }
  if (status) {
    status = prepare(database, "INSERT INTO proc_object VALUES(?,?,?,?,?)",
                     interned.insert_object_);
  }
  if (status) {
    status = prepare(database, "INSERT INTO proc_trait VALUES(?,?,?,?,?,?,?,?)",
                     interned.insert_trait_);
  }
  if (!status) return status.error();
  base::Result<int64_t> last =
      database.integer("SELECT max(id) FROM proc_trait");
  if (!last) return last.error();
  interned.next_trait_ = *last + 1;
  return interned;
}

base::Result<int64_t> Interned::text(std::string_view value) {
  auto known = texts_.find(value);
  if (known != texts_.end()) return known->second;
  const int64_t id = next_text_++;
  insert_text_.bind(0, id);
  insert_text_.bind(1, value);
  base::Status status = insert_text_.run();
  if (!status) return status.error();
  texts_.emplace(std::string(value), id);
  return id;
}

base::Result<int64_t> Interned::object(const model::Mapping& mapping) {
  Object key(mapping.device_major, mapping.device_minor, mapping.inode_id,
             mapping.name);
  auto known = objects_.find(key);
  if (known != objects_.end()) return known->second;
  const int64_t id = next_object_++;
  insert_object_.bind(0, id);
  insert_object_.bind(1, int64_t{mapping.device_major});
  insert_object_.bind(2, int64_t{mapping.device_minor});
  // Inode numbers above 2^63 come back the same through the cast.
  insert_object_.bind(3, static_cast<int64_t>(mapping.inode_id));
  insert_object_.bind(4, std::string_view(mapping.name));
  base::Status status = insert_object_.run();
  if (!status) return status.error();
  objects_.emplace(std::move(key), id);
  return id;
}

base::Result<int64_t> Interned::trait(const model::Mapping& mapping,
                                      model::RegionKind kind) {
  const int64_t kernel_page = page_kib(mapping, SmapsField::KernelPageSize);
  const int64_t mmu_page = page_kib(mapping, SmapsField::MmuPageSize);
  const Trait key(permission_bits(mapping.permissions), mapping.vm_flags,
                  kernel_page, mmu_page, mapping.is_thp_eligible,
                  static_cast<uint8_t>(kind));
  auto known = traits_.find(key);
  if (known != traits_.end()) return known->second;
  const int64_t id = next_trait_++;
  const std::string permissions =
      model::permission_letters(mapping.permissions);
  const std::string flags = vm_flag_text(mapping.vm_flags);
  const auto known_size = [](int64_t kib) {
    return kib == kUnknownPageSize ? std::nullopt : std::optional(kib);
  };
  insert_trait_.bind(0, id);
  insert_trait_.bind(1, std::string_view(permissions));
  insert_trait_.bind(2, std::string_view(flags));
  insert_trait_.bind(3, known_size(kernel_page));
  insert_trait_.bind(4, known_size(mmu_page));
  insert_trait_.bind(5, int64_t{mapping.is_thp_eligible ? 1 : 0});
  insert_trait_.bind(6, model::region_kind_token(kind));
  insert_trait_.bind(7, model::category_token(model::region_category(kind)));
  base::Status status = insert_trait_.run();
  if (!status) return status.error();
  traits_.emplace(key, id);
  return id;
}

}  // namespace tidemark::store
