// The memory that our own code takes.
#pragma once

namespace tidemark::base {

// Lets go of our code's pages: what is used again is mapped again, what was
// used once is not. For a process that stays small after a beginning that was
// not.
void release_own_code();

}  // namespace tidemark::base
