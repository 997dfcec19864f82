// A small ledger, and one whose names were chosen by somebody hostile.
#pragma once

#include <string>
#include <string_view>

#include "model/ledger.h"

namespace tidemark::view {

// The texts are literals, or kept by the ledger it goes into.
inline model::LedgerRow ledger_row(model::LedgerClass ledger_class,
                                   std::string_view owner, uint64_t mib,
                                   std::string_view parent = {}) {
  model::LedgerRow row;
  row.ledger_class = ledger_class;
  row.owner = owner;
  row.bytes = mib << 20;
  row.parent = parent;
  return row;
}

inline model::Ledger ledger_named(const std::string& name) {
  using model::LedgerClass;
  model::Ledger ledger;
  ledger.tier = model::LedgerTier::Structs;
  ledger.total_bytes = uint64_t{100} << 20;
  ledger.mapped_pages = 1000;
  ledger.agreeing_pages = 980;
  ledger.changed_pages = 15;
  ledger.unreadable_pages = 5;
  ledger.rows = {
      ledger_row(LedgerClass::AnonPrivate, "", 40),
      ledger_row(LedgerClass::AnonPrivate, ledger.texts.keep(name + " (12)"),
                 30, "anon-private"),
      ledger_row(LedgerClass::AnonPrivate, "sh (14)", 10, "anon-private"),
      ledger_row(LedgerClass::File, "", 59),
      ledger_row(LedgerClass::File, ledger.texts.keep("/srv/" + name), 59,
                 "file"),
      ledger_row(LedgerClass::Unnamed, "", 1),
  };
  return ledger;
}

}  // namespace tidemark::view
