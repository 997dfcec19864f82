#include "view/json/ledger.h"

#include <algorithm>

#include "analysis/ledger_cells.h"
#include "view/json/use.h"

namespace tidemark::view {
namespace {

using model::LedgerRow;

void write_row(base::JsonWriter& json, const LedgerRow& row, bool is_sample) {
  json.begin_object();
  // What stands for a group or some processes is of several classes.
  const bool is_whole = row.parent.empty() && !row.owner.empty() &&
                        row.ledger_class == model::LedgerClass::Unnamed;
  json.member("class", is_whole ? std::string_view("owner")
                                : model::ledger_class_token(row.ledger_class));
  json.member("owner", row.owner);
  json.member("bytes", row.bytes);
  if (is_sample) json.member("error_bytes", row.error_bytes);
  json.key("parent");
  if (row.parent.empty()) {
    json.null();
  } else {
    json.string(row.parent);
  }
  if (!row.note.empty()) json.member("note", row.note);
  json.end_object();
}

base::Status write_others(const LedgerRow& many, const RowStream& other_files,
                          const RowVisitor& write_one) {
  uint64_t left = many.bytes;
  base::Status status = other_files([&](const LedgerRow& row) -> base::Status {
    LedgerRow part = row;
    part.parent = many.parent;
    // The sum was made before: no part is larger than what is left of it.
    part.bytes = std::min(row.bytes, left);
    if (part.bytes == 0) return base::Ok{};
    left -= part.bytes;
    return write_one(part);
  });
  if (!status || left == 0) return status;
  LedgerRow rest = many;
  rest.bytes = left;
  return write_one(rest);
}

void write_what_if(base::JsonWriter& json, const analysis::WhatIf& result) {
  json.key("what_if");
  json.begin_object();
  json.member("process_count", result.process_count);
  json.member("freed_bytes", result.freed_bytes);
  json.member("anon_bytes", result.anon_bytes);
  json.member("page_table_bytes", result.page_table_bytes);
  json.member("kernel_stack_bytes", result.kernel_stack_bytes);
  json.member("shmem_freed_bytes", result.shmem_freed_bytes);
  json.member("shmem_bytes", result.shmem_bytes);
  json.member("file_bytes", result.file_bytes);
  json.member("private_sum_bytes", result.private_sum_bytes);
  json.end_object();
}

}  // namespace

base::Status write_ledger_json(const model::Ledger& ledger,
                               const std::optional<analysis::WhatIf>& what_if,
                               base::JsonWriter::Layout layout,
                               const PartWriter& write,
                               const RowStream& other_files) {
  base::JsonWriter json(layout);
  json.begin_object();
  json.member("schema", "tidemark.ledger/1");
  json.member("tier", model::ledger_tier_token(ledger.tier));
  if (!ledger.tier_note.empty()) json.member("tier_note", ledger.tier_note);
  json.member("total_bytes", ledger.total_bytes);
  json.member("elapsed_ns", ledger.elapsed_ns);
  json.member("own_bytes", ledger.own_bytes);
  json.member("mapped_pages", ledger.mapped_pages);
  json.member("agreeing_pages", ledger.agreeing_pages);
  json.member("changed_pages", ledger.changed_pages);
  json.member("unreadable_pages", ledger.unreadable_pages);
  if (ledger.sampled_pages > 0) {
    json.member("sampled_pages", ledger.sampled_pages);
    json.member("unseen_bytes", ledger.unseen_bytes);
  }
  json.key("rows");
  json.begin_array();
  const RowVisitor write_one = [&](const LedgerRow& row) -> base::Status {
    constexpr size_t kPartBytes = size_t{64} << 10;
    write_row(json, row, ledger.sampled_pages > 0);
    if (json.ready_bytes() < kPartBytes) return base::Ok{};
    return write(json.take_ready());
  };
  for (const LedgerRow& row : ledger.rows) {
    const bool is_many = other_files && row.owner == analysis::kOtherFiles &&
                         row.ledger_class == model::LedgerClass::File;
    base::Status status =
        is_many ? write_others(row, other_files, write_one) : write_one(row);
    if (!status) return status;
  }
  json.end_array();
  if (what_if) write_what_if(json, *what_if);
  write_notes(json, ledger.notes);
  json.end_object();
  return write(json.take());
}

}  // namespace tidemark::view
