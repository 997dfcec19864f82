// Parses the records of `tidemark graph`, which are those of Fuchsia's memgraph
// and more: a JSON array of objects with a type, an id, a parent and a name.
// Members we do not use are skipped, whatever is in them. A member we use that
// is missing or of another type is an error with its line, because a zero in
// its place would be a box that is not drawn. Text that ends early is refused
// whole. How the records hang together is checked where a tree is made of them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/graph_record.h"

namespace tidemark::parse {

base::Result<model::GraphRecords> parse_graph_records(std::string_view text);

}  // namespace tidemark::parse
