// Parts of a process that more than one reader reads, and what a failure to
// read one means.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/process.h"
#include "source/roots.h"

namespace tidemark::source {

// As an unknown value says it: "denied: /proc/1/smaps: …".
std::string reason_of(const base::Error& error);

model::ProcessState state_of(const base::Error& error);

template <typename T>
model::Reading<T> reading_of(base::Result<T> result) {
  if (result) return model::known(std::move(*result));
  return model::unknown<T>(reason_of(result.error()));
}

// An exiting process has given up its memory while its entry is still there.
bool has_no_memory(const model::ProcessStat& stat);

struct LivingThread {
  int32_t id = 0;
  base::Directory directory;
};

// A process whose first thread has ended while others go on (pthread_exit in
// main) looks like a zombie: /proc/PID is the directory of that thread. Opens
// that of a thread that has memory, and puts its state into `stat`. Empty for
// every other process, which costs nothing.
std::optional<LivingThread> living_thread(const base::Directory& process,
                                          model::ProcessStat& stat);

// The directory through which a process can be read, whichever of its threads
// have ended. Reads stat: who has read that asks for the living thread instead.
base::Result<base::Directory> open_process(const Roots& roots, int32_t pid);

// Its arguments, each with a blank behind it; empty where there are none.
std::string read_command_line(const Roots& roots, int32_t pid);

// Stack pointers tell thread stacks from other memory; one file more each.
base::Result<std::vector<model::Thread>> read_threads(
    const base::Directory& directory, bool with_stack_pointers);

// How much address space the ELF files among the mappings take when loaded.
// Only images with something behind them that could be their bss are opened.
std::vector<model::ImageSpan> read_images(
    const base::Directory& directory,
    const std::vector<model::Mapping>& mappings);

}  // namespace tidemark::source
