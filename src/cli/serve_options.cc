#include "cli/serve_options.h"

namespace tidemark::cli {
namespace {

// A live recording that nobody keeps must not fill the disk; peaks stay.
constexpr const char* kMostLive = "--max-size=200M";

Take added_to(std::vector<std::string>& list) {
  return [&list](const std::string& word) -> base::Status {
    list.push_back(word);
    return base::Ok{};
  };
}

}  // namespace

bool ServeOptions::is_live() const {
  return everything || !pids.empty() || !names.empty() || !cgroups.empty() ||
         places.empty();
}

void add_serve_options(OptionTable& table, ServeOptions& options) {
  table.positional("PATH", "recordings, and folders that hold some",
                   options.places, false);
  table.value("-p,--pid", "PID", "record this process and what it starts",
              added_to(options.pids));
  table.value("--name", "NAME", "record processes of this name",
              added_to(options.names));
  table.value("--cgroup", "PATH", "record the processes of a control group",
              added_to(options.cgroups));
  table.flag("-a,--all", "record every process", options.everything);
  table.value("-f,--interval,--period", "DUR",
              "time between two readings (default 1s)", options.interval);
  table.value("--budget", "SHARE,STALL",
              "what recording may cost (default 2%,5ms; none)", options.budget);
  table.value("--with", "SOURCE", "record this too: trace", options.with);
  table.value("-o,--output", "FILE", "keep the live recording here",
              options.kept_path);
  table.flag("--overwrite", "replace that file if it exists",
             options.overwrites);
  table.value("--listen", "ADDRESS",
              "127.0.0.1:8080 or unix:/PATH (default a free port of this "
              "machine)",
              options.listen);
  table.flag("--allow-remote", "let --listen be where others can reach it",
             options.allows_remote);
  table.value("--host-name", "NAME",
              "a name under which browsers may ask, beside addresses and "
              "localhost",
              added_to(options.host_names));
  table.value("--token-file", "FILE",
              "take the token from here instead of a new one",
              options.token_path);
  table.flag("--no-browser", "only print the URL", options.without_browser);
  table.flag("-q,--quiet", "no remarks", options.common.quiet);
  table.flag("-h,--help", "show this help", options.common.help);
}

std::vector<std::string> record_arguments(const ServeOptions& options) {
  std::vector<std::string> arguments;
  for (const std::string& pid : options.pids)
    arguments.push_back(pid);
  for (const std::string& name : options.names)
    arguments.push_back("--name=" + name);
  for (const std::string& group : options.cgroups)
    arguments.push_back("--cgroup=" + group);
  if (arguments.empty()) arguments.emplace_back("--all");
  if (!options.interval.empty()) {
    arguments.push_back("--interval=" + options.interval);
  }
  if (!options.budget.empty()) {
    arguments.push_back("--budget=" + options.budget);
  }
  if (!options.with.empty()) arguments.push_back("--with=" + options.with);
  if (options.kept_path.empty()) arguments.emplace_back(kMostLive);
  if (options.overwrites) arguments.emplace_back("--overwrite");
  return arguments;
}

}  // namespace tidemark::cli
