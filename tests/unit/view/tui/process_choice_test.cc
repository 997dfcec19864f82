#include "view/tui/process_choice.h"

#include <gtest/gtest.h>

#include "unit/view/tui/top_example.h"

namespace tidemark::view::tui {
namespace {

ProcessChoice choice_of(const std::string& text) {
  base::Result<ProcessChoice> choice = ProcessChoice::make(text);
  EXPECT_TRUE(choice) << text;
  choice->look_at(*example_snapshot());
  return *choice;
}

model::TraceTask task(int32_t pid, std::string name) {
  model::TraceTask made;
  made.pid = pid;
  made.name = std::move(name);
  return made;
}

TEST(ProcessChoice, RefusesWhatIsNoFilter) {
  EXPECT_FALSE(ProcessChoice::make("pss>banana"));
}

TEST(ProcessChoice, MeansProcessesOfTheMoment) {
  const ProcessChoice choice = choice_of("firefox");
  EXPECT_TRUE(choice.has(2217));
  EXPECT_FALSE(choice.has(41877));
}

TEST(ProcessChoice, MeansTasksThatHaveEndedByTheirWords) {
  const ProcessChoice choice = choice_of("firefox or group~import");
  model::TraceTask ended = task(77, "firefox");
  ended.has_exited = true;
  EXPECT_TRUE(choice.has_task(ended));
  EXPECT_FALSE(choice.has_task(task(77, "sh")));
  ended = task(78, "sh");
  ended.cgroup = "/import.scope";
  EXPECT_TRUE(choice.has_task(ended));
}

TEST(ProcessChoice, GoesByWhatIsKnownOfATaskThatIsThere) {
  const ProcessChoice choice = choice_of("not pss>1G");
  EXPECT_FALSE(choice.has_task(task(41877, "osm2pgsql")))
      << "it has more, though a trace does not tell";
  EXPECT_TRUE(choice.has_task(task(901, "dockerd")));
}

}  // namespace
}  // namespace tidemark::view::tui
