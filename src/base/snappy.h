// Snappy's block format, as Prometheus's remote write wants it. Written here
// because it is a page long, and a library would be one more thing to build,
// ship and update; series of one family repeat each other, so that a simple
// search finds most of it.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::base {

std::string snappy_compress(std::string_view bytes);

}  // namespace tidemark::base
