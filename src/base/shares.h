// Work in which the kernel does nearly everything, such as reading thousands of
// small files: done by as many threads as there are CPUs, at most four.
#pragma once

#include <cstddef>
#include <functional>

namespace tidemark::base {

// Calls `work` for parts [begin, end) of [0, count) that hold all of it, each
// at least `least_each` large where there is more than one. Where no thread may
// be started it is all done by the caller's.
void in_shares(size_t count, size_t least_each,
               const std::function<void(size_t begin, size_t end)>& work);

// Calls `work` for each of [0, count), each in a thread of its own: for work
// that waits for somebody else, where one that is slow must not delay another.
// Returns when all have ended.
void in_threads(size_t count, const std::function<void(size_t index)>& work);

}  // namespace tidemark::base
