// Pictures and lists of the machine view: its last minutes, stalls, who grows,
// and what nobody explains.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/top_snapshot.h"
#include "view/tui/canvas.h"
#include "view/tui/census.h"
#include "view/tui/stack_picture.h"
#include "view/tui/view.h"

namespace tidemark::view::tui {

inline int64_t bytes_of(const analysis::TopMachine& machine,
                        model::Category kind) {
  return machine.kinds[static_cast<size_t>(kind)];
}

// By how much PSS has grown since it was first known; empty: it never was.
std::optional<int64_t> growth_in(const analysis::TopSeries& series);
// By how much a kind has grown in that time; empty: nothing is known of before.
std::optional<int64_t> growth_of(const analysis::TopSnapshot& snapshot,
                                 model::Category kind);

// The box has the title in its first row, and the axis in its last.
void draw_machine_history(Canvas& canvas, const Scene& scene,
                          const PictureBox& box);
void draw_stalls(Canvas& canvas, const Scene& scene, const PictureBox& box);
void draw_growing(Canvas& canvas, const Scene& scene, const PictureBox& box);
// "unnamed 25.0M, 0.1 % of RAM, steady: ...", as much of it as there is room.
void draw_residue(Canvas& canvas, const Scene& scene, const Census& census,
                  const PictureBox& box);

}  // namespace tidemark::view::tui
