// Metric families as a request of Prometheus's remote write 1.0: a message
// prometheus.WriteRequest in snappy's block format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/metrics.h"

namespace tidemark::view {

// One sample of every series, all of the time given. `common` are labels that
// each series gets: instance, job, and what the user adds. A label of a family
// wins over a common one of the same name.
std::string remote_write_request(
    const std::vector<model::MetricFamily>& families,
    const std::vector<model::MetricLabel>& common, uint64_t realtime_ns);

}  // namespace tidemark::view
