// How long `top` takes to draw after each key, with 5,000 processes and 100,000
// mappings: key to canvas, without the terminal. Prints the worst and the
// middle of several rounds.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/top_snapshot.h"
#include "view/tui/top.h"

namespace {

using namespace tidemark;  // NOLINT(google-build-using-namespace)
using view::tui::Key;
using view::tui::KeyCode;

constexpr size_t kProcesses = 5000;
constexpr size_t kGroups = 200;
constexpr size_t kPoints = 121;
constexpr uint64_t kSecondNs = 1'000'000'000;

model::Process made_process(size_t i) {
  using model::SmapsField;
  model::Process process;
  const auto pid = static_cast<int32_t>(1000 + i);
  process.id = {pid, i * 7};
  process.stat.pid = pid;
  process.stat.parent_pid = static_cast<int32_t>(i < 10 ? 1 : 1000 + i / 10);
  process.stat.comm = "worker-" + std::to_string(i % 300);
  process.stat.thread_count = 4;
  process.command_line = "/usr/lib/service/worker-" + std::to_string(i % 300) +
                         std::string(1, '\0') + "--number=" + std::to_string(i);
  process.cgroup_path = "/system.slice/service-" + std::to_string(i % kGroups) +
                        ".service/part-" + std::to_string(i % 3);
  process.status.user_id = static_cast<uint32_t>(i % 20);
  process.status.peak_rss_bytes = (i + 900) << 12;
  model::SmapsFields fields;
  fields.set(SmapsField::Pss, (i * 37 % 9000) << 12);
  fields.set(SmapsField::Rss, (i * 37 % 9000 + 500) << 12);
  fields.set(SmapsField::PrivateClean, 0);
  fields.set(SmapsField::PrivateDirty, (i * 37 % 9000) << 11);
  fields.set(SmapsField::SharedClean, (i % 50) << 12);
  fields.set(SmapsField::SharedDirty, 0);
  fields.set(SmapsField::Swap, (i % 7) << 12);
  fields.set(SmapsField::SwapPss, (i % 7) << 12);
  process.rollup = model::known(fields);
  return process;
}

// One process has a great many of the mappings: it is the one that is opened.
std::shared_ptr<const analysis::MapsReport> made_maps() {
  model::Sample sample;
  sample.processes.push_back(made_process(0));
  std::vector<model::Mapping> mappings(100'000);
  for (size_t i = 0; i < mappings.size(); ++i) {
    mappings[i].start_address = 0x10'000'000 + i * 0x10'000;
    mappings[i].end_address = mappings[i].start_address + 0x8'000;
    mappings[i].permissions.read = true;
    mappings[i].fields.set(model::SmapsField::Pss, (i % 9) << 12);
  }
  sample.processes[0].mappings = model::known(std::move(mappings));
  return std::make_shared<const analysis::MapsReport>(
      analysis::make_maps_report(sample, sample.processes[0], {},
                                 analysis::MapsSort::Pss));
}

// A count of classes with fifty owners each, and a day of a timeline.
void add_count_and_timeline(analysis::TopSnapshot& snapshot) {
  auto ledger = std::make_shared<analysis::TopLedger>();
  ledger->tier = model::LedgerTier::Structs;
  ledger->total_bytes = snapshot.machine->total_bytes;
  for (size_t i = 0; i < model::kLedgerClassCount; ++i) {
    const auto ledger_class = static_cast<model::LedgerClass>(i);
    analysis::TopLedgerRow row;
    row.name = model::ledger_class_label(ledger_class);
    row.category = model::kCategories[i % model::kCategoryCount];
    row.bytes = ledger->total_bytes / model::kLedgerClassCount;
    row.part_count = 50;
    for (size_t k = 0; k < row.part_count; ++k)
      row.parts.push_back({"worker-" + std::to_string(k) + " (7)", k << 20});
    ledger->rows.push_back(std::move(row));
  }
  snapshot.slow.ledger.value = std::move(ledger);
  auto timeline = std::make_shared<analysis::TopTimeline>();
  timeline->points.resize(86'400);
  for (size_t i = 0; i < timeline->points.size(); ++i) {
    timeline->points[i].elapsed_ns = i * kSecondNs;
    timeline->points[i].kinds[0] = (i * 37 % 9000) << 20;
  }
  analysis::find_peaks(*timeline);
  snapshot.timeline = std::move(timeline);
}

std::shared_ptr<analysis::TopSnapshot> made_snapshot() {
  auto snapshot = std::make_shared<analysis::TopSnapshot>();
  snapshot->target = "made";
  snapshot->period_ns = kSecondNs;
  snapshot->sample.started_monotonic_ns = 5000 * kSecondNs;
  snapshot->sample.machine.emplace();
  snapshot->sample.machine->meminfo.total_bytes = uint64_t{64} << 30;
  snapshot->sample.machine->meminfo.free_bytes = uint64_t{4} << 30;
  auto history = std::make_shared<analysis::TopHistory>();
  for (size_t i = 0; i < kPoints; ++i) {
    history->times_ns.push_back((4400 + i * 5) * kSecondNs);
    history->machine.emplace_back();
    history->kinds.emplace_back();
    history->stalled_some.emplace_back(0);
    history->stalled_full.emplace_back(0);
  }
  for (size_t i = 0; i < kProcesses; ++i) {
    snapshot->sample.processes.push_back(made_process(i));
    const model::ProcessId& id = snapshot->sample.processes.back().id;
    history->processes[{id.pid, id.start_ticks}] =
        analysis::TopSeries(kPoints, (i * 36 % 9000) << 12);
    analysis::TopDetail detail;
    detail.read_ns = 4990 * kSecondNs;
    for (model::Category kind :
         {model::Category::Heap, model::Category::Anon, model::Category::File,
          model::Category::Code}) {
      analysis::CategoryUse use;
      use.category = kind;
      use.pss_bytes = use.rss_bytes = (i * 9) << 10;
      detail.kinds.push_back(use);
    }
    detail.grown = {{model::Category::Heap, static_cast<int64_t>(i << 12)},
                    {model::Category::Anon, static_cast<int64_t>(i << 11)}};
    snapshot->details.push_back(std::move(detail));
  }
  for (size_t i = 0; i < kGroups; ++i) {
    model::Cgroup group;
    group.path = "/system.slice/service-" + std::to_string(i) + ".service";
    snapshot->sample.cgroups.push_back(std::move(group));
  }
  snapshot->history = std::move(history);
  snapshot->machine.emplace();
  snapshot->machine->total_bytes = uint64_t{64} << 30;
  snapshot->maps = made_maps();
  add_count_and_timeline(*snapshot);
  return snapshot;
}

struct Step {
  const char* name;
  std::vector<Key> keys;  // the last one is timed
};

Key code(KeyCode key) {
  return {key, 0, 0, 0};
}
Key letter(char32_t character) {
  return view::tui::typed(character);
}

const std::vector<Step>& steps() {
  static const std::vector<Step> list = {
      {"g (by parent)", {letter(U'g')}},
      {"g (by user)", {letter(U'g')}},
      {"g (by program)", {letter(U'g')}},
      {"g (by control group)", {letter(U'g')}},
      {"s", {letter(U's')}},
      {"S", {letter(U'S')}},
      {"Down", {code(KeyCode::Down)}},
      {"PgDn", {code(KeyCode::PageDown)}},
      {"End", {code(KeyCode::End)}},
      {"Home", {code(KeyCode::Home)}},
      {"Left (close)", {code(KeyCode::Left)}},
      {"Right (open)", {code(KeyCode::Right)}},
      {"Space (mark a group)", {letter(U' ')}},
      {"u", {letter(U'u')}},
      {"/ and a letter", {letter(U'/'), letter(U'w')}},
      {"a letter found last", {letter(U'~')}},
      {"Esc", {code(KeyCode::Escape)}},
      {"F worker-7 Enter",
       {letter(U'F'), letter(U'w'), letter(U'o'), letter(U'r'),
        code(KeyCode::Enter)}},
      {"F Enter (no filter)", {letter(U'F'), code(KeyCode::Enter)}},
      {"2", {letter(U'2')}},
      {"Down (class)", {code(KeyCode::Down)}},
      {"w", {letter(U'w')}},
      {"e", {letter(U'e')}},
      {"Esc from it", {code(KeyCode::Escape)}},
      {"3", {letter(U'3')}},
      {"5", {letter(U'5')}},
      {"g (by program)", {letter(U'g')}},
      {"g (by cgroup)", {letter(U'g')}},
      {"g (by kind)", {letter(U'g')}},
      {"+", {letter(U'+')}},
      {"-", {letter(U'-')}},
      {"y", {letter(U'y')}},
      {"6", {letter(U'6')}},
      {"1", {letter(U'1')}},
      {"Enter (100,000 mappings)",
       {code(KeyCode::Home), code(KeyCode::Down), code(KeyCode::Enter)}},
      {"End in the mappings", {code(KeyCode::End)}},
      {"Esc from the mappings", {code(KeyCode::Escape)}},
      {"?", {letter(U'?')}},
      {"? again", {letter(U'?')}},
  };
  return list;
}

// Of this thread: what it costs wherever there is a free CPU.
double cpu_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 +
         static_cast<double>(time.tv_nsec) / 1e6;
}

class Watch {
 public:
  void add_to(std::vector<double>& walls, std::vector<double>& cpus) const {
    walls.push_back(std::chrono::duration<double, std::milli>(
                        std::chrono::steady_clock::now() - begin_)
                        .count());
    cpus.push_back(cpu_ms() - cpu_begin_);
  }

 private:
  std::chrono::steady_clock::time_point begin_ =
      std::chrono::steady_clock::now();
  double cpu_begin_ = cpu_ms();
};

double middle(std::vector<double>& values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main() {
  constexpr size_t kRounds = 9;
  const auto snapshot = made_snapshot();
  view::tui::Top top({}, 132, 40);
  std::vector<std::vector<double>> walls(steps().size() + 1);
  std::vector<std::vector<double>> cpus(walls.size());
  for (size_t round = 0; round < kRounds; ++round) {
    const auto newer = std::make_shared<const analysis::TopSnapshot>(*snapshot);
    const Watch reading;
    top.take(newer);
    top.draw(0);
    reading.add_to(walls.back(), cpus.back());
    for (size_t i = 0; i < steps().size(); ++i) {
      const std::vector<Key>& keys = steps()[i].keys;
      for (size_t k = 0; k + 1 < keys.size(); ++k)
        top.press(keys[k], 0);
      top.prepare();
      const Watch press;
      top.press(keys.back(), 0);
      top.draw(0);
      press.add_to(walls[i], cpus[i]);
    }
  }
  for (size_t i = 0; i < walls.size(); ++i) {
    const double wall = middle(walls[i]);  // puts them in order
    std::printf("%-26s cpu %6.2f ms, wall %6.2f, worst %6.2f\n",
                i < steps().size() ? steps()[i].name : "a new reading",
                middle(cpus[i]), wall, walls[i].back());
  }
  return 0;
}
