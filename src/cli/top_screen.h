// The screen of `top`, for commands that open one of its views.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "view/tui/screen.h"
#include "view/tui/top.h"
#include "watch/stop_signals.h"
#include "watch/top_supply.h"

namespace tidemark::cli {

// Draws what the supply has and hands it what is asked for, until q, a signal,
// the end of the supply or of the terminal.
base::Result<ExitCode> show_supply(view::tui::Screen& screen,
                                   watch::StopSignals& signals,
                                   watch::TopSupply& supply,
                                   const view::tui::Top::Start& start);

// A recording from the moment that `at` says.
base::Result<ExitCode> show_recording(const std::string& path,
                                      const std::string& at,
                                      const view::tui::ScreenOptions& options,
                                      const view::tui::Top::Start& start);

}  // namespace tidemark::cli
