// A trace buffer of our own beside the machine's, with events and options that
// nobody else sees.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace tidemark::source {

class TraceInstance {
 public:
  // The descriptor of the directory is kept, nothing else is.
  static base::Result<TraceInstance> make(const base::Directory& tracefs,
                                          const std::string& name);
  TraceInstance(TraceInstance&& other) noexcept;
  TraceInstance& operator=(TraceInstance&&) = delete;
  TraceInstance(const TraceInstance&) = delete;
  TraceInstance& operator=(const TraceInstance&) = delete;
  // Removes it, with all that was set in it. Its files must be closed by then.
  ~TraceInstance();

  const base::Directory& directory() const { return directory_; }
  base::Status write(const std::string& file, std::string_view text) const;

 private:
  TraceInstance(base::Directory instances, base::Directory directory,
                std::string name);

  base::Directory instances_;
  base::Directory directory_;
  std::string name_;  // empty: it is another's to remove
};

// By its name alone, for whoever is left when its owner was killed. The kernel
// holds it for a moment while its files are closed, so it is tried for a while.
base::Status remove_trace_instance(const std::string& name);

}  // namespace tidemark::source
