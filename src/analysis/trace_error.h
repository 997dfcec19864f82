// How far a number of a sampled trace can be off.
//
// Each page is in the sample or not, so what is counted of P pages varies as a
// binomial number does: with one page in N followed, by sqrt(P (N - 1)) pages.
#pragma once

#include <cstdint>

#include "model/trace.h"

namespace tidemark::analysis {

// Twice that: in 19 of 20 cases the truth lies within. 0 where all pages are
// followed.
uint64_t trace_error_pages(const model::Trace& trace, uint64_t pages);

}  // namespace tidemark::analysis
