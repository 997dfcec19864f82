// The reports on recordings: diff, info and peak.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "unit/json_check.h"
#include "unit/view/examples.h"
#include "unit/view/recording_example.h"
#include "view/json/diff.h"
#include "view/json/info.h"
#include "view/json/peak.h"

namespace tidemark::view {
namespace {

RC_GTEST_PROP(RecordingJsonProperty, HostileNamesKeepItValid, ()) {
  const std::string name = *hostile_name();
  for (base::JsonWriter::Layout layout :
       {base::JsonWriter::Layout::OneLine, base::JsonWriter::Layout::Pretty}) {
    for (const std::string& json :
         {diff_json(named_diff_report(name), layout),
          info_json(named_info_report(name), layout),
          peak_json(named_peak_report(name), layout)}) {
      RC_ASSERT(test::JsonCheck(json).is_valid());
    }
  }
}

}  // namespace
}  // namespace tidemark::view
