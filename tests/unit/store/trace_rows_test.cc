// What goes into the trace of a recording comes out of it at every moment.
#include "store/trace_rows.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "model/trace_builder.h"
#include "store/thinning.h"
#include "store/trace_schema.h"
#include "unit/store/full_disk.h"
#include "unit/store/samples.h"

namespace tidemark::store {
namespace {

using model::Sample;
using model::Trace;
using model::TraceFrame;
using model::TraceLeaf;
using model::TraceTask;
using test::RecordingFile;

// What a trace says, whatever the order of its tables.
struct Told {
  using Leaf =
      std::tuple<std::vector<std::string>, std::string, uint64_t, uint64_t,
                 uint64_t, uint64_t, uint64_t, std::vector<uint64_t>>;
  std::vector<Leaf> leaves;
  std::vector<std::string> tasks;
  std::vector<uint64_t> numbers;
  std::vector<std::string> notes;
  std::vector<model::TraceModule> modules;
  model::TraceFaults faults;
  std::optional<model::TraceBefore> before;
  std::optional<model::Reading<model::SlabTrace>> slab;
  std::optional<model::TraceUser> user;
  bool operator==(const Told&) const = default;
};

std::string words_of(const TraceFrame& frame) {
  return std::to_string(frame.address) + "/" + frame.symbol + "/" +
         std::to_string(frame.offset) + "/" + frame.module + "/" + frame.loads;
}

std::string words_of(const TraceTask& task) {
  return std::to_string(task.pid) + "/" + std::to_string(task.start_ns) + "/" +
         task.name + "/" + task.command_line + "/" + task.cgroup + "/" +
         std::to_string(
             (task.is_kernel_thread ? 1 : 0) + (task.is_interrupt ? 2 : 0) +
             (task.has_exited ? 4 : 0) + (task.is_peak_bound ? 8 : 0)) +
         "/" + std::to_string(task.pages) + "/" +
         std::to_string(task.peak_pages);
}

Told told_by(const Trace& trace) {
  Told told;
  for (const TraceLeaf& leaf : trace.leaves) {
    std::vector<std::string> stack;
    for (uint32_t frame : trace.stacks[leaf.stack])
      stack.push_back(words_of(trace.frames[frame]));
    told.leaves.emplace_back(std::move(stack), words_of(trace.tasks[leaf.task]),
                             leaf.pages, leaf.peak_pages,
                             leaf.machine_peak_pages, leaf.allocation_count,
                             leaf.held_ns, leaf.lows);
  }
  std::ranges::sort(told.leaves);
  for (const TraceTask& task : trace.tasks)
    told.tasks.push_back(words_of(task));
  std::ranges::sort(told.tasks);
  told.numbers = {static_cast<uint64_t>(trace.backend),
                  trace.started_realtime_ns,
                  trace.elapsed_ns,
                  trace.page_size_bytes,
                  trace.sample_period,
                  trace.kernel_bytes,
                  trace.has_peaks ? 1U : 0U,
                  trace.sees_bulk ? 1U : 0U,
                  trace.pages,
                  trace.peak_pages,
                  trace.peak_realtime_ns,
                  trace.low_stretch_ns};
  told.notes = trace.notes;
  told.modules = trace.modules;
  told.faults = trace.faults;
  told.before = trace.before;
  told.slab = trace.slab;
  told.user = trace.user;
  if (told.slab && *told.slab) {
    std::ranges::sort(told.slab->value->sites, {},
                      [](const model::SlabSite& site) {
                        return std::tuple(site.cache, words_of(site.caller),
                                          site.allocation_count, site.bytes,
                                          site.peak_bytes, site.untold_count);
                      });
  }
  return told;
}

Told without_lows(Told told) {
  for (Told::Leaf& leaf : told.leaves)
    std::get<std::vector<uint64_t>>(leaf).clear();
  return told;
}

// A kernel whose tasks take and give back pages at random.
class TraceHistory {
 public:
  explicit TraceHistory(uint32_t seed) : random_(seed) {
    for (size_t i = 0; i < 30; ++i) {
      // Names as strangers give them; some frames have no address.
      frames_.push_back({i % 7 == 0 ? 0 : ~uint64_t{0} - i * 16,
                         i % 5 == 0 ? "" : "f'\xff;" + std::to_string(i), i,
                         i % 3 == 0 ? "mod" : ""});
    }
    // The same code of the loader, at work for others.
    for (const char* name : {"one", "two"}) {
      frames_.push_back(frames_[1]);
      frames_.back().loads = name;
    }
  }

  Trace next() {
    elapsed_ns_ += 1 + below(1'000'000'000);
    if (tasks_.size() < 8 || chance(6)) add_task();
    if (chance(3)) add_place();
    for (Place& place : places_) {
      if (!chance(2)) continue;
      place.leaf.pages = below(5000);
      place.leaf.peak_pages = std::max(place.leaf.peak_pages, place.leaf.pages);
      if (chance(2)) place.leaf.machine_peak_pages = place.leaf.pages;
      place.leaf.allocation_count += below(9);
      place.held_since_ns = chance(3) ? elapsed_ns_ : below(elapsed_ns_);
    }
    if (chance(9) && !tasks_.empty()) {
      TraceTask& task = tasks_[below(tasks_.size())];
      task.name = "renamed" + std::to_string(below(100));
      task.command_line = "with \xfe arguments";
      task.has_exited = chance(2);
    }
    if (chance(8) && !places_.empty()) {
      places_.erase(places_.begin() +
                    static_cast<ptrdiff_t>(below(places_.size())));
    }
    if (chance(10)) notes_.push_back("note " + std::to_string(notes_.size()));
    if (chance(12)) modules_.push_back({"mod\\", below(99), true, false});
    if (chance(12) && !modules_.empty()) modules_.back().was_unloaded = true;
    if (chance(2)) faults_.untracked_freed += below(100);
    if (chance(10)) ++faults_.lost_events;
    change_slab();
    return build();
  }

 private:
  struct Place {
    std::vector<TraceFrame> stack;
    size_t task = 0;
    uint64_t held_since_ns = 0;
    TraceLeaf leaf;
  };
  size_t below(size_t end) { return random_() % end; }
  bool chance(size_t one_in) { return below(one_in) == 0; }

  void add_task() {
    TraceTask task;
    task.pid = static_cast<int32_t>(below(20));
    task.start_ns = 1 + tasks_.size();
    task.name = "task\n" + std::to_string(below(5));
    task.cgroup = chance(2) ? "/a" : "";
    task.is_kernel_thread = chance(4);
    task.is_interrupt = chance(20);
    task.is_peak_bound = chance(4);
    tasks_.push_back(std::move(task));
  }

  void change_slab() {
    if (chance(5)) {
      slab_.sites.push_back(
          {"cache " + std::to_string(slab_.sites.size() / 2 % 3),
           frames_[1 + slab_.sites.size() / 2 % 6], 0, 0, 0, 0, 0});
      // Some are the same in everything but what they hold.
      slab_.sites.back().caller.offset = slab_.sites.size() / 2;
      slab_.sites.back().caller.loads.clear();
    }
    if (chance(15) && slab_.sites.size() > 1) {
      slab_.sites.erase(slab_.sites.begin());
    }
    for (model::SlabSite& site : slab_.sites) {
      if (chance(2)) continue;
      site.bytes = below(100) * 64;
      site.peak_bytes = std::max(site.peak_bytes, site.bytes);
      site.objects = site.bytes / 64;
      site.allocation_count += site.objects;
      site.untold_count += below(2);
    }
    slab_.bytes = below(9999);
    slab_.peak_bytes = std::max(slab_.bytes, slab_.peak_bytes);
    slab_.untracked_freed += below(3);
  }

  // Each kind of value that the files can have, and what they may refuse.
  static model::TraceBefore before() {
    model::TraceBefore before = model::unknown_before("denied: \xff");
    before.modules = model::known(std::vector<model::KernelModule>{
        {"zram", 40960, 0xffffffffc0000000}, {"lo\\op", 1, std::nullopt}});
    model::VmallocArea area;
    area.start = 0xffffc90000000000;
    area.end = 0xffffc90000005000;
    area.size_bytes = 20480;
    area.caller = "load_module+0x1/0x2 [xfs]";
    area.pages = 4;
    area.kind = model::VmallocKind::Vmap;
    area.has_vpages = true;
    model::VmallocArea other;
    other.phys = 0xfe000000;
    other.is_user = true;
    before.vmalloc = model::known(
        model::VmallocInfo{{area, other}, model::AddressForm::Hashed});
    before.slab = model::known(
        std::vector<model::SlabCache>{{"dentry", 1, 2, 192, 21, 1, 5, 6}});
    before.code = model::known(std::vector<model::AllocationSite>{
        {"mm/slub.c", 2425, "", "alloc_slab_page", -4096, 7, true}});
    return before;
  }

  void add_place() {
    Place place;
    for (size_t depth = below(6); depth > 0; --depth)
      place.stack.push_back(frames_[below(frames_.size())]);
    place.task = below(tasks_.size());
    for (const Place& other : places_) {
      if (other.stack == place.stack && other.task == place.task) return;
    }
    places_.push_back(std::move(place));
  }

  // In another order each time: indices mean nothing from one to the next.
  Trace build() {
    std::vector<size_t> order(places_.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    model::TraceBuilder builder;
    uint64_t pages = 0;
    for (size_t index : order) {
      const Place& place = places_[index];
      std::vector<uint32_t> frames;
      for (const TraceFrame& frame : place.stack)
        frames.push_back(builder.frame(frame));
      const uint32_t task = builder.task(tasks_[place.task]);
      TraceTask& built = builder.task_at(task);
      built.pages += place.leaf.pages;
      built.peak_pages += place.leaf.peak_pages;
      TraceLeaf& leaf = builder.leaf(builder.stack(frames), task);
      const uint32_t stack = leaf.stack;
      leaf = place.leaf;
      leaf.stack = stack;
      leaf.task = task;
      leaf.held_ns = elapsed_ns_ - place.held_since_ns;
      leaf.lows = {0, place.leaf.pages / 2, place.leaf.pages};
      pages += leaf.pages;
    }
    Trace& head = builder.head();
    head.started_realtime_ns = 1'700'000'000'000'000'000;
    head.elapsed_ns = elapsed_ns_;
    head.sample_period = 4;
    head.kernel_bytes = 12345;
    head.pages = pages;
    peak_pages_ = std::max(peak_pages_, pages);
    head.peak_pages = peak_pages_;
    head.peak_realtime_ns = 1'700'000'000'000'000'000 + elapsed_ns_;
    head.low_stretch_ns = 500'000'000;
    head.notes = notes_;
    head.modules = modules_;
    head.sees_bulk = true;
    head.faults = faults_;
    head.before = before();
    if (!slab_.sites.empty()) head.slab = model::known(slab_);
    return builder.finish();
  }

  std::mt19937 random_;
  std::vector<TraceFrame> frames_;
  std::vector<TraceTask> tasks_;
  std::vector<Place> places_;
  std::vector<std::string> notes_;
  std::vector<model::TraceModule> modules_;
  model::TraceFaults faults_;
  model::SlabTrace slab_;
  uint64_t elapsed_ns_ = 0;
  uint64_t peak_pages_ = 0;
};

Sample sample_with(uint64_t index, Trace trace) {
  Sample sample = test::sample_of(index, {});
  sample.has_processes = false;
  sample.trace = std::move(trace);
  return sample;
}

Told told_at(const Recording& recording, int64_t tick) {
  const base::Result<Trace> trace = recording.trace_at(tick);
  EXPECT_TRUE(trace) << trace.error().what;
  return trace ? told_by(*trace) : Told();
}

// All ticks are what was written, but for the lows, of which the last are kept.
// One in `step` is looked at, from the end on.
void expect_told(const Recording& recording, const std::vector<Told>& given,
                 size_t step = 1) {
  ASSERT_EQ(recording.ticks().size(), given.size());
  for (size_t i = (given.size() - 1) % step; i < given.size(); i += step) {
    const bool is_last = i + 1 == given.size();
    const Told back = told_at(recording, static_cast<int64_t>(i));
    const Told want = is_last ? given[i] : without_lows(given[i]);
    ASSERT_EQ(back.leaves, want.leaves) << "at tick " << i;
    ASSERT_EQ(back.tasks, want.tasks) << "at tick " << i;
    ASSERT_EQ(back.numbers, want.numbers) << "at tick " << i;
    ASSERT_EQ(back.notes, want.notes) << "at tick " << i;
    ASSERT_EQ(back.modules, want.modules) << "at tick " << i;
    ASSERT_EQ(back.faults, want.faults) << "at tick " << i;
    ASSERT_EQ(back.before, want.before) << "at tick " << i;
    ASSERT_EQ(back.slab, want.slab) << "at tick " << i;
    ASSERT_EQ(back.user, want.user) << "at tick " << i;
  }
}

// What each task held from `first` on, by its start, which no two share here.
void expect_course(const Recording& recording,
                   const std::vector<Sample>& samples, size_t first) {
  const auto last = static_cast<int64_t>(samples.size()) - 1;
  const base::Result<model::TraceCourse> course =
      recording.trace_course(static_cast<int64_t>(first), last);
  ASSERT_TRUE(course) << course.error().what;
  ASSERT_EQ(course->steps.size(), samples.size() - first);
  std::map<uint64_t, uint64_t> held;
  for (size_t i = first; i < samples.size(); ++i) {
    const model::TraceCourse::Step& step = course->steps[i - first];
    EXPECT_EQ(step.tick, static_cast<int64_t>(i));
    EXPECT_EQ(step.pages, samples[i].trace->pages);
    for (const model::TraceCourse::Change& change : step.changes)
      held[course->tasks[change.task].start_ns] = change.pages;
    std::map<uint64_t, uint64_t> want;
    for (const TraceTask& task : samples[i].trace->tasks) {
      if (task.pages > 0) want[task.start_ns] = task.pages;
    }
    std::erase_if(held, [](const auto& entry) { return entry.second == 0; });
    ASSERT_EQ(held, want) << "at tick " << i;
  }
}

int64_t count_in(const std::string& path, const std::string& sql) {
  base::Result<Database> database = Database::open(path, OpenMode::ReadOnly);
  EXPECT_TRUE(database) << database.error().what;
  base::Result<int64_t> count = database->integer(sql);
  EXPECT_TRUE(count) << count.error().what;
  return count ? *count : -1;
}

TEST(TraceRows, GiveBackEveryMomentOfMadeUpHistories) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TraceHistory history(seed);
    const RecordingFile file;
    std::vector<Sample> samples;
    std::vector<Told> given;
    for (uint64_t i = 0; i < 60; ++i) {
      samples.push_back(sample_with(i, history.next()));
      given.push_back(told_by(*samples.back().trace));
    }
    const Recording recording = test::recorded(file, samples);
    expect_told(recording, given);
    expect_course(recording, samples, 0);
    expect_course(recording, samples, 41);
  }
}

TEST(TraceRows, AreInTheTimelineWhereTheyWereReadLast) {
  TraceHistory history(3);
  const model::Trace trace = history.next();
  const RecordingFile file;
  const Recording recording =
      test::recorded(file, {test::sample_of(0, {}), sample_with(1, trace),
                            test::sample_of(2, {}), test::sample_of(3, {})});
  const base::Result<model::Timeline> timeline = recording.timeline({});
  ASSERT_TRUE(timeline) << timeline.error().what;
  const std::optional<uint64_t> held = trace.pages * trace.page_size_bytes;
  std::vector<std::optional<uint64_t>> told;
  for (const model::TimelinePoint& point : timeline->points)
    told.push_back(point.traced_bytes);
  EXPECT_EQ(told, (std::vector<std::optional<uint64_t>>{{}, held, held, held}));
}

TEST(TraceRows, HaveNoCourseWhereNothingWasFollowed) {
  const RecordingFile file;
  const Recording recording = test::recorded(file, {test::sample_of(0, {})});
  const base::Result<model::TraceCourse> course = recording.trace_course(0, 0);
  ASSERT_TRUE(course) << course.error().what;
  EXPECT_EQ(*course, model::TraceCourse());
  EXPECT_FALSE(recording.timeline({})->points[0].traced_bytes);
}

TEST(TraceRows, NeedFewRowsForAMomentHoweverLongItWent) {
  TraceHistory history(1);
  const RecordingFile file;
  std::vector<Sample> samples;
  std::vector<Told> given;
  for (uint64_t i = 0; i < 400; ++i) {
    samples.push_back(sample_with(i, history.next()));
    given.push_back(told_by(*samples.back().trace));
  }
  expect_told(test::recorded(file, samples), given, 17);
  EXPECT_GT(count_in(file.path(), "SELECT count(*) FROM trace_keyframe"), 1);
}

TEST(TraceRows, AreNotWrittenWhereNothingChanged) {
  TraceHistory history(3);
  Trace trace = history.next();
  for (int i = 0; i < 20; ++i)
    trace = history.next();
  const RecordingFile file;
  (void)test::recorded(file, {sample_with(0, trace), sample_with(1, trace),
                              sample_with(2, trace)});
  EXPECT_EQ(count_in(file.path(), "SELECT count(*) FROM trace_tick"), 3);
  EXPECT_EQ(
      count_in(file.path(), "SELECT count(*) FROM trace_change WHERE tick > 0"),
      0);
  EXPECT_EQ(count_in(file.path(),
                     "SELECT count(*) FROM trace_task_change WHERE tick > 0"),
            0);
}

TEST(TraceRows, SayWhySlabObjectsWereNotFollowed) {
  Trace trace = TraceHistory(3).next();
  trace.before.reset();
  trace.slab = model::unknown<model::SlabTrace>("no \"BPF\"");
  const RecordingFile file;
  const Recording recording = test::recorded(file, {sample_with(0, trace)});
  const base::Result<Trace> back = recording.trace_at(0);
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(back->slab, trace.slab);
  EXPECT_FALSE(back->before);
}

// Slab objects are not read each time: the last that was told holds.
TEST(TraceRows, KeepSlabObjectsUntilTheyAreToldAgain) {
  TraceHistory history(3);
  Trace first = history.next();
  while (!first.slab)
    first = history.next();
  Trace second = history.next();
  second.slab.reset();
  second.before.reset();
  const RecordingFile file;
  const Recording recording =
      test::recorded(file, {sample_with(0, first), sample_with(1, second)});
  EXPECT_EQ(told_at(recording, 1).slab, told_by(first).slab);
  EXPECT_EQ(told_at(recording, 1).before, first.before);
}

TEST(TraceRows, ReadFilesFromBeforeTheAdditions) {
  TraceHistory history(3);
  const Trace trace = history.next();
  const RecordingFile file;
  (void)test::recorded(file, {sample_with(0, trace)});
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::ReadWrite);
    ASSERT_TRUE(database);
    for (const char* kind : {"view", "table"}) {
      base::Result<Statement> names = database->prepare(
          "SELECT name FROM sqlite_schema WHERE type = ? AND (name LIKE "
          "'trace_slab%' OR name LIKE 'trace_before%')");
      ASSERT_TRUE(names);
      names->bind(0, std::string_view(kind));
      std::vector<std::string> found;
      while (*names->step())
        found.emplace_back(names->text(0));
      for (const std::string& name : found) {
        ASSERT_TRUE(
            database->execute("DROP " + std::string(kind) + " " + name));
      }
    }
  }
  base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  const base::Result<Trace> back = recording->trace_at(0);
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_FALSE(back->before);
  EXPECT_FALSE(back->slab);
  EXPECT_EQ(told_by(*back).leaves, told_by(trace).leaves);
}

// The sample gets rarer while it goes on, and each moment's errors with it.
TEST(TraceRows, KeepFilesCountsAndThePeriodOfStacksOfPrograms) {
  TraceHistory history(7);
  std::vector<Sample> samples;
  std::vector<Told> given;
  model::TraceUser user;
  user.images = {{"prog", "/usr/bin/prog", "0badcafe"},
                 {"nameless", "/opt/nameless", ""}};
  for (uint64_t i = 0; i < 6; ++i) {
    Trace trace = history.next();
    user.sample_count += 100;
    user.unmapped_count = i / 2;
    user.unwinding_ns += 7;
    user.naming_ns += 3;
    trace.sample_period = 64 + i / 3;
    trace.user = user;
    given.push_back(told_by(trace));
    samples.push_back(sample_with(i, std::move(trace)));
  }
  const RecordingFile file;
  const Recording recording = test::recorded(file, samples);
  expect_told(recording, given);
  EXPECT_EQ(count_in(file.path(), "SELECT count(*) FROM trace_files"), 2);
}

TEST(TraceRows, HaveNoTablesForStacksThatNobodyAskedFor) {
  TraceHistory history(5);
  const RecordingFile file;
  (void)test::recorded(file, {sample_with(0, history.next())});
  EXPECT_EQ(count_in(file.path(),
                     "SELECT count(*) FROM sqlite_schema WHERE name IN "
                     "('trace_file', 'trace_user_sum')"),
            0);
}

TEST(RecordedTrace, RefusesAPeriodThatCannotBe) {
  TraceHistory history(9);
  Trace trace = history.next();
  trace.user.emplace();
  const RecordingFile file;
  (void)test::recorded(file, {sample_with(0, trace)});
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::ReadWrite);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("UPDATE trace_user_sum SET count = -1"));
  }
  base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording);
  EXPECT_FALSE(recording->trace_at(0));
}

TEST(TraceRows, LeaveOutTasksThatNeverHeldAPage) {
  TraceHistory history(3);
  Trace trace = history.next();
  while (trace.leaves.empty())
    trace = history.next();
  const Told given = told_by(trace);
  TraceTask other;
  other.pid = 4711;
  trace.tasks.insert(trace.tasks.begin(), other);
  for (TraceLeaf& leaf : trace.leaves)
    ++leaf.task;
  const RecordingFile file;
  const Recording recording = test::recorded(file, {sample_with(0, trace)});
  EXPECT_EQ(told_at(recording, 0), given);
}

TEST(TraceRows, GiveALateNameToTheFrameThatWaitedForIt) {
  Trace trace;
  trace.frames = {{0x10, "", 0, ""}, {0x20, "in", 4, ""}};
  trace.stacks = {{0, 1}};
  trace.tasks.resize(1);
  trace.leaves.resize(1);
  trace.leaves[0].pages = 3;
  Trace named = trace;
  named.frames[0] = {0x10, "alloc", 2, "mod"};
  const RecordingFile file;
  const Recording recording =
      test::recorded(file, {sample_with(0, trace), sample_with(1, named)});
  EXPECT_EQ(told_at(recording, 1).leaves, told_by(named).leaves);
  EXPECT_EQ(told_at(recording, 0).leaves, told_by(named).leaves);
  EXPECT_EQ(count_in(file.path(), "SELECT count(*) FROM trace_change"), 1)
      << "the same leaf";
}

// Two tasks of one pid, start and group, as parts of one may be.
TEST(TraceRows, KeepTasksApartThatLookTheSame) {
  Trace trace;
  trace.frames = {{1, "f", 0, ""}};
  trace.stacks = {{0}};
  trace.tasks.resize(2);
  for (TraceTask& task : trace.tasks) {
    task.pid = 7;
    task.start_ns = 9;
    task.name = "same";
  }
  trace.leaves.resize(2);
  trace.leaves[0].pages = 3;
  trace.leaves[1].pages = 5;
  trace.leaves[1].task = 1;
  const RecordingFile file;
  const Recording recording =
      test::recorded(file, {sample_with(0, trace), sample_with(1, trace)});
  EXPECT_EQ(told_at(recording, 1).leaves, told_by(trace).leaves);
}

TEST(TraceRows, StandBesideProcessesOnOneClock) {
  TraceHistory history(5);
  const RecordingFile file;
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < 4; ++i) {
    samples.push_back(test::sample_of(
        i, {test::process_of(42, 7, {test::full_mapping(0x10000, 8, 4)})}));
    samples.back().trace = history.next();
  }
  // The trace goes on a little longer.
  samples.push_back(sample_with(4, history.next()));
  const Recording recording = test::recorded(file, samples);
  for (int64_t tick = 0; tick < 5; ++tick) {
    EXPECT_EQ(told_at(recording, tick).numbers,
              told_by(*samples[static_cast<size_t>(tick)].trace).numbers);
    EXPECT_EQ(test::sample_at(recording, tick).processes.size(), 1U)
        << "nobody looked, so nobody is gone";
  }
}

TEST(TraceRows, AreWholeAgainAfterAFullDisk) {
  TraceHistory history(11);
  const RecordingFile file;
  std::unique_ptr<Recorder> recorder = test::make_recorder(file.path());
  std::vector<Told> given;
  const auto take = [&](uint64_t index) {
    Sample sample = sample_with(index, history.next());
    given.push_back(told_by(*sample.trace));
    return recorder->accept(sample);
  };
  for (uint64_t i = 0; i < 20; ++i)
    ASSERT_TRUE(take(i));
  ASSERT_TRUE(recorder->commit());
  for (uint64_t i = 20; i < 24; ++i)
    ASSERT_TRUE(take(i));
  {
    const test::FullDisk full(16384);
    EXPECT_FALSE(recorder->commit());
  }
  given.resize(20);  // the rest is lost
  for (uint64_t i = 24; i < 60; ++i)
    ASSERT_TRUE(take(i));
  ASSERT_TRUE(recorder->finish());
  recorder.reset();
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  expect_told(*recording, given);
}

TEST(TraceRows, AreRightWhereTicksWereThinned) {
  TraceHistory history(13);
  const RecordingFile file;
  std::vector<Sample> samples;
  std::vector<Told> given;
  for (uint64_t i = 0; i < 100; ++i) {
    samples.push_back(sample_with(i, history.next()));
    given.push_back(without_lows(told_by(*samples.back().trace)));
  }
  (void)test::recorded(file, samples);
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::ReadWrite);
    ASSERT_TRUE(database) << database.error().what;
    const base::Result<uint64_t> gone = thin_once(*database, 90);
    ASSERT_TRUE(gone) << gone.error().what;
    ASSERT_GT(*gone, 0U);
  }
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  ASSERT_LT(recording->ticks().size(), 100U);
  for (const model::RecordedTick& tick : recording->ticks()) {
    EXPECT_EQ(without_lows(told_at(*recording, tick.id)),
              given[static_cast<size_t>(tick.id)])
        << "at tick " << tick.id;
  }
}

TEST(RecordedTrace, TellsWhatTheSectionHolds) {
  TraceHistory history(17);
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < 30; ++i)
    samples.push_back(sample_with(i, history.next()));
  const RecordingFile file;
  const Recording recording = test::recorded(file, samples);
  const auto trace = recording.trace();
  ASSERT_TRUE(trace) << trace.error().what;
  ASSERT_TRUE(*trace);
  EXPECT_EQ((*trace)->first_tick, 0);
  EXPECT_EQ((*trace)->last_tick, 29);
  EXPECT_EQ((*trace)->tick_count, 30U);
  const Trace& last = *samples.back().trace;
  EXPECT_EQ((*trace)->peak_pages, last.peak_pages);
  EXPECT_EQ((*trace)->elapsed_ns, last.elapsed_ns);
  EXPECT_EQ((*trace)->faults, last.faults);
  EXPECT_GE((*trace)->leaf_count, last.leaves.size());
}

TEST(RecordedTrace, IsNotThereWhereNoneWasRecorded) {
  const RecordingFile file;
  const Recording recording = test::recorded(file, {test::sample_of(0, {})});
  const auto trace = recording.trace();
  ASSERT_TRUE(trace) << trace.error().what;
  EXPECT_FALSE(*trace);
  const base::Result<Trace> none = recording.trace_at(0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, base::ErrorKind::NotFound);
  EXPECT_NE(none.error().what.find("no trace"), std::string::npos);
}

TEST(RecordedTrace, IsNotThereBeforeItBegan) {
  TraceHistory history(19);
  const RecordingFile file;
  const Recording recording = test::recorded(
      file, {test::sample_of(0, {}), sample_with(1, history.next())});
  const base::Result<Trace> none = recording.trace_at(0);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().what.find("not begun"), std::string::npos);
}

// Each of these is a lie that no writer of ours tells.
TEST(RecordedTrace, RefusesWhatContradictsItself) {
  const char* const damages[] = {
      "DROP TABLE trace_stack",
      "DELETE FROM trace_frame",
      "DELETE FROM trace_stack",
      "DELETE FROM trace_leaf",
      "DELETE FROM trace_task_change",
      "DELETE FROM trace_keyframe",
      "UPDATE trace_stack SET parent = id",
      "UPDATE trace_change SET pages = -1",
      "UPDATE trace_change SET machine_peak = 9223372036854775807",
      "UPDATE trace_task_change SET peak = -5",
      "UPDATE trace_tick SET elapsed_ns = -1",
      "UPDATE trace_tick SET low_count = 9223372036854775807",
      "UPDATE trace_low SET pages = 'many'",
      "DELETE FROM recording WHERE name = 'trace_backend'",
      "UPDATE recording SET value = 'x' WHERE name = 'trace_page_size_bytes'",
      "UPDATE recording SET value = '0' WHERE name = 'trace_sample_period'",
  };
  TraceHistory history(23);
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < 60; ++i)
    samples.push_back(sample_with(i, history.next()));
  for (const char* damage : damages) {
    SCOPED_TRACE(damage);
    const RecordingFile file;
    (void)test::recorded(file, samples);
    {
      base::Result<Database> database =
          Database::open(file.path(), OpenMode::ReadWrite);
      ASSERT_TRUE(database) << database.error().what;
      const base::Status done = database->execute(damage);
      ASSERT_TRUE(done) << done.error().what;
    }
    const base::Result<Recording> recording = Recording::open(file.path());
    ASSERT_TRUE(recording) << recording.error().what;
    const base::Result<Trace> trace = recording->trace_at(59);
    ASSERT_FALSE(trace) << "was believed";
    EXPECT_EQ(trace.error().kind, base::ErrorKind::Malformed);
    EXPECT_NE(trace.error().what.find(file.path()), std::string::npos);
  }
}

TEST(RecordedTrace, SkipsWhatLaterVersionsMaySay) {
  TraceHistory history(29);
  const RecordingFile file;
  const Trace given = history.next();
  (void)test::recorded(file, {sample_with(0, given)});
  {
    base::Result<Database> database =
        Database::open(file.path(), OpenMode::ReadWrite);
    ASSERT_TRUE(database) << database.error().what;
    const base::Status done = database->execute(
        "INSERT INTO recording VALUES('trace_later', 'x');"
        "INSERT INTO text VALUES(100000, 'later_faults');"
        "INSERT INTO trace_fault VALUES(0, 100000, 7);"
        "ALTER TABLE trace_task ADD COLUMN later INT");
    ASSERT_TRUE(done) << done.error().what;
  }
  const base::Result<Recording> recording = Recording::open(file.path());
  ASSERT_TRUE(recording) << recording.error().what;
  EXPECT_EQ(told_at(*recording, 0).tasks, told_by(given).tasks);
}

// The views say the same in bytes.
TEST(TraceViews, SumToTheTraceAtATick) {
  TraceHistory history(31);
  std::vector<Sample> samples;
  for (uint64_t i = 0; i < 30; ++i)
    samples.push_back(sample_with(i, history.next()));
  const RecordingFile file;
  (void)test::recorded(file, samples);
  for (const int64_t tick : {3, 20, 29}) {
    const std::string at = std::to_string(tick);
    const Trace& trace = *samples[static_cast<size_t>(tick)].trace;
    EXPECT_EQ(
        count_in(file.path(),
                 "SELECT sum(bytes) FROM trace_spans WHERE tick <= " + at +
                     " AND (until_tick > " + at + " OR until_tick IS NULL)"),
        static_cast<int64_t>(trace.pages * trace.page_size_bytes));
    EXPECT_EQ(count_in(file.path(),
                       "SELECT bytes FROM trace_ticks WHERE tick = " + at),
              static_cast<int64_t>(trace.pages * trace.page_size_bytes));
  }
  EXPECT_EQ(count_in(file.path(),
                     "SELECT count(*) FROM trace_leaf l LEFT JOIN trace_stacks "
                     "s USING (stack) WHERE s.symbols IS NULL"),
            0);
  for (const char* view : {"trace_faults", "trace_notes", "trace_frames",
                           "trace_tasks", "trace_task_changes"}) {
    EXPECT_GT(
        count_in(file.path(), std::string("SELECT count(*) FROM ") + view), 0)
        << view;
  }
}

}  // namespace
}  // namespace tidemark::store
