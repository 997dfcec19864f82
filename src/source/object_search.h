// Finds memory that no process refers to: SysV segments nobody has attached,
// files of tmpfs that nobody has open.
#pragma once

#include <string>
#include <vector>

#include "source/object_walk.h"
#include "source/roots.h"

namespace tidemark::source {

// The segments of every ipc namespace that processes are in, those already
// found by their mappings among them: the table tells what each holds. Returns
// what could not be asked, in words.
std::vector<std::string> search_segments(const Roots& roots, ObjectWalk& walk);

// Every file of every tmpfs, each file system once, through the root of a
// process that has it mounted. One that is mounted over by another is not
// reached, nor is what the kernel unpacked before the first process.
std::vector<std::string> search_tmpfs(const Roots& roots, ObjectWalk& walk);

}  // namespace tidemark::source
