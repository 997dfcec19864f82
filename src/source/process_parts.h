// Parts of a process that more than one reader reads, and what a failure to
// read one means.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "model/process.h"

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

// Stack pointers tell thread stacks from other memory; one file more each.
base::Result<std::vector<model::Thread>> read_threads(
    const base::Directory& directory, bool with_stack_pointers);

// How much address space the ELF files among the mappings take when loaded.
// Only images with something behind them that could be their bss are opened.
std::vector<model::ImageSpan> read_images(
    const base::Directory& directory,
    const std::vector<model::Mapping>& mappings);

}  // namespace tidemark::source
