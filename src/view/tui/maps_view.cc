#include "view/tui/maps_view.h"

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "base/units.h"
#include "view/tui/numbers.h"

namespace tidemark::view::tui {
namespace {

using analysis::MapsRegion;
using analysis::MapsReport;

class MapsView : public View {
 public:
  char32_t number() const override { return 0; }
  std::string_view name() const override { return "Maps"; }
  std::string_view filter_words() const override { return " (of processes)"; }

  void arrange(const Scene& scene, int /*columns*/, const Area& area) override {
    area_ = area;
    cursor_.settle(count(scene), list_rows());
  }

  Answer press(const Key& key, const Scene& scene) override {
    if (cursor_.move(key, count(scene), list_rows())) return taken();
    const bool is_back =
        key.code == KeyCode::Escape || key.code == KeyCode::Left ||
        key.code == KeyCode::Enter || key.code == KeyCode::Backspace;
    if (!is_back) return {};
    cursor_ = {};
    return asked(Wish::CloseMaps);
  }

  void draw(Canvas& canvas, const Scene& scene,
            const Area& area) const override;

  std::string status(const Scene& scene) const override {
    const analysis::TopSnapshot& snapshot = *scene.snapshot;
    if (!snapshot.maps_failure.empty())
      return base::visible(snapshot.maps_failure);
    if (!snapshot.maps) return "reading its mappings …";
    return base::grouped(snapshot.maps->total.mapping_count) + " mappings in " +
           base::grouped(snapshot.maps->regions.size()) + " regions, read in " +
           base::long_duration(snapshot.maps->read_ns);
  }
  std::string copy(const Scene& scene) const override {
    if (cursor_.chosen >= count(scene)) return {};
    const MapsRegion& region = scene.snapshot->maps->regions[cursor_.chosen];
    return base::visible(region.name) + "\t" +
           std::string(model::region_kind_token(region.kind)) + "\t" +
           base::short_size(region.sum.pss_bytes) + "\t" +
           base::short_size(region.sum.size_bytes);
  }
  std::vector<KeyHint> hints(const Scene& /*scene*/) const override {
    return {{"↑↓", "move"}, {"Esc", "back"}, {"y", "copy"}};
  }
  std::vector<HelpSection> help(const Scene& /*scene*/) const override {
    return {{"MOVE",
             {{"↑ ↓ PgUp PgDn Home End", "row, page, ends"},
              {"Esc ← Enter", "back to the processes"},
              {"y", "copy this row"}}}};
  }

 private:
  static size_t count(const Scene& scene) {
    return scene.snapshot->maps ? scene.snapshot->maps->regions.size() : 0;
  }
  int list_rows() const { return area_.rows - 3; }
  void draw_region(Canvas& canvas, const Scene& scene, int row,
                   const MapsRegion& region, bool is_chosen) const;

  ListCursor cursor_;
  Area area_;
};

// Ends of the columns from the right; SWAP and PRIVATE go when it is narrow.
struct MapsLayout {
  int pss, own, swap, size;
};
MapsLayout maps_layout(int columns) {
  const bool is_wide = columns >= 60;
  return {is_wide ? columns - 25 : columns - 1, is_wide ? columns - 17 : 0,
          is_wide ? columns - 9 : 0, is_wide ? columns - 1 : 0};
}

void MapsView::draw_region(Canvas& canvas, const Scene& scene, int row,
                           const MapsRegion& region, bool is_chosen) const {
  const MapsLayout at = maps_layout(canvas.columns());
  canvas.set(1, row, band_glyph(scene.look, region.category),
             paint(role_of(region.category)));
  std::string name = base::visible(region.name);
  if (name.empty()) name = std::string(model::region_kind_token(region.kind));
  canvas.put_within(3, row, at.pss - 10, name, paint(Role::Plain));
  const auto put = [&](int end, uint64_t bytes, Role role) {
    if (end > 0)
      put_amount(canvas, scene.look, end, row, model::amount_of(bytes),
                 paint(bytes == 0 ? Role::Dim : role));
  };
  put(at.pss, region.sum.pss_bytes, Role::Strong);
  put(at.own, region.sum.private_bytes, Role::Plain);
  put(at.swap, region.sum.swap_pss_bytes, Role::Plain);
  put(at.size, region.sum.size_bytes, Role::Dim);
  if (!is_chosen) return;
  if (scene.look.has_color()) canvas.repaint_row(row, Role::Chosen);
  canvas.set(0, row, scene.look.has_color() ? U'▌' : U'>', paint(Role::Strong));
}

void MapsView::draw(Canvas& canvas, const Scene& scene,
                    const Area& area) const {
  if (!scene.snapshot->maps) return;
  const MapsReport& report = *scene.snapshot->maps;
  const MapsLayout at = maps_layout(canvas.columns());
  canvas.put_within(1, area.top, canvas.columns() - 2,
                    "p:" + std::to_string(report.process.pid) + "  " +
                        base::visible(report.name) + "   " +
                        base::visible(report.command),
                    paint(Role::Strong));
  canvas.put(3, area.top + 1, "REGION", paint(Role::Dim));
  canvas.put_right(at.pss, area.top + 1, "PSS", paint(Role::Strong));
  if (at.own > 0) {
    canvas.put_right(at.own, area.top + 1, "PRIVATE", paint(Role::Dim));
    canvas.put_right(at.swap, area.top + 1, "SWAP", paint(Role::Dim));
    canvas.put_right(at.size, area.top + 1, "SIZE", paint(Role::Dim));
  }
  int row = area.top + 2;
  for (int line = 0; line < list_rows(); ++line) {
    const size_t index = cursor_.first + static_cast<size_t>(line);
    if (index >= report.regions.size()) break;
    draw_region(canvas, scene, row++, report.regions[index],
                index == cursor_.chosen);
  }
  // Why the chosen one is there, in words.
  if (cursor_.chosen >= report.regions.size()) return;
  canvas.put_within(
      1, area.top + area.rows - 1, canvas.columns() - 2,
      base::visible(analysis::explain_region(report.regions[cursor_.chosen])),
      paint(Role::Dim));
}

}  // namespace

std::unique_ptr<View> make_maps_view() {
  return std::make_unique<MapsView>();
}

}  // namespace tidemark::view::tui
