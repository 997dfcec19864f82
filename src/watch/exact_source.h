// A Source that adds to another's sample which pages its processes map, and how
// often each is mapped by all: the frames by /proc/PID/pagemap, the counts by
// /proc/kpagecount. Needs CAP_SYS_ADMIN; processes that may not be read are
// said.
#pragma once

#include <memory>
#include <utility>

#include "base/result.h"
#include "model/sample.h"
#include "source/frame_walk.h"
#include "source/page_census.h"
#include "source/roots.h"

namespace tidemark::watch {

class ExactSource : public model::Source {
 public:
  // Denied or Unsupported where frames cannot be seen.
  static base::Result<std::unique_ptr<ExactSource>> open(
      const source::Roots& roots, model::Source& inner);
  base::Status collect(model::Sample& sample) override;

 private:
  ExactSource(const source::Roots& roots, model::Source& inner,
              source::PageCensus census)
      : roots_(roots), inner_(inner), census_(std::move(census)) {}

  const source::Roots& roots_;
  model::Source& inner_;
  source::PageCensus census_;
  source::FrameWalk walk_;
};

}  // namespace tidemark::watch
