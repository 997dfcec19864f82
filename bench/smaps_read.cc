// smaps_read live PID ROUNDS     bare read beside read-and-parse of PID's smaps
// smaps_read memory FILE ROUNDS  parse of a text that is already in memory
// smaps_read count FILE ROUNDS   the same without clocks, for callgrind
//
// `live` alternates three ways to go through the same file and prints a line
// "NAME NS NS …" with the CPU time of every round: `bare` opens, reads to the
// end with SmapsReader's buffer size and closes; `parsed` is SmapsReader with
// a visitor that takes the sum of a field; `kept` copies every mapping with all
// its fields into a new vector, as ProcessReader does. One process alternates
// them because the clock then excludes start and exit, and because both sides
// see the same neighbours.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "parse/smaps.h"
#include "source/smaps_file.h"

namespace tidemark::bench {
namespace {

using model::Mapping;
using model::SmapsField;

struct Way {
  std::string name;
  std::function<base::Status()> go;
  std::vector<int64_t> spent_ns;
};

int64_t cpu_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec * int64_t{1'000'000'000} + t.tv_nsec;
}

int print_error(const base::Error& error) {
  std::fprintf(stderr, "smaps_read: %s\n", error.what.c_str());
  return 1;
}

base::Status read_bare(const base::Directory& process) {
  base::Result<base::Fd> fd = base::open_file_at(process, "smaps");
  if (!fd) return fd.error();
  std::array<char, 16 * 1024> buffer;
  while (::read(fd->get(), buffer.data(), buffer.size()) > 0) {
  }
  return base::Ok{};
}

// What came out, so that nothing of the work can be optimised away, and so that
// a parser that finds nothing is noticed.
struct Tally {
  size_t mappings = 0;
  uint64_t rss_bytes = 0;

  void add(const Mapping& mapping) {
    ++mappings;
    rss_bytes += mapping.fields.get_or_zero(SmapsField::Rss);
  }
};

// The first round warms up and is not kept.
int time_rounds(std::vector<Way>& ways, uint64_t rounds) {
  for (uint64_t round = 0; round <= rounds; ++round) {
    for (size_t i = 0; i < ways.size(); ++i) {
      Way& way = ways[(i + round) % ways.size()];
      const int64_t start = cpu_ns();
      base::Status status = way.go();
      const int64_t spent = cpu_ns() - start;
      if (!status) return print_error(status.error());
      if (round > 0) way.spent_ns.push_back(spent);
    }
  }
  for (const Way& way : ways) {
    std::printf("%s", way.name.c_str());
    for (int64_t ns : way.spent_ns)
      std::printf(" %lld", static_cast<long long>(ns));
    std::printf("\n");
  }
  return 0;
}

int print_tally(const Tally& tally, uint64_t passes) {
  std::printf("mappings %zu\n", tally.mappings / passes);
  return tally.mappings == 0 || tally.rss_bytes == 0 ? 1 : 0;
}

int run_live(const std::string& pid, uint64_t rounds) {
  base::Result<base::Directory> process = base::open_directory("/proc/" + pid);
  if (!process) return print_error(process.error());
  source::SmapsReader reader;
  Tally tally;
  const parse::MappingVisitor add = [&](const Mapping& m) { tally.add(m); };
  std::vector<Way> ways;
  ways.push_back({"bare", [&] { return read_bare(*process); }, {}});
  ways.push_back({"parsed", [&] { return reader.read(*process, add); }, {}});
  ways.push_back({"kept",
                  [&] {
                    std::vector<Mapping> mappings;
                    return reader.read(*process, [&](const Mapping& m) {
                      mappings.push_back(m);
                    });
                  },
                  {}});
  if (int code = time_rounds(ways, rounds)) return code;
  return print_tally(tally, rounds + 1);
}

base::Status parse_text(parse::SmapsParser& parser, std::string_view text,
                        Tally& tally) {
  base::Result<size_t> taken =
      parser.parse(text, true, [&](const Mapping& m) { tally.add(m); });
  if (!taken) return taken.error();
  return base::Ok{};
}

base::Result<std::string> load(const std::string& file) {
  base::Result<base::Directory> here = base::open_directory(".");
  if (!here) return here.error();
  return base::read_file_at(*here, file);
}

int run_memory(const std::string& file, uint64_t rounds) {
  base::Result<std::string> text = load(file);
  if (!text) return print_error(text.error());
  parse::SmapsParser parser;
  Tally tally;
  std::vector<Way> ways;
  ways.push_back(
      {"parsed", [&] { return parse_text(parser, *text, tally); }, {}});
  ways.push_back({"kept",
                  [&]() -> base::Status {
                    base::Result<std::vector<Mapping>> mappings =
                        parse::parse_smaps(*text);
                    if (!mappings) return mappings.error();
                    return base::Ok{};
                  },
                  {}});
  if (int code = time_rounds(ways, rounds)) return code;
  std::printf("bytes %zu\n", text->size());
  return print_tally(tally, rounds + 1);
}

int run_count(const std::string& file, uint64_t rounds) {
  base::Result<std::string> text = load(file);
  if (!text) return print_error(text.error());
  parse::SmapsParser parser;
  Tally tally;
  for (uint64_t round = 0; round < rounds; ++round) {
    base::Status status = parse_text(parser, *text, tally);
    if (!status) return print_error(status.error());
  }
  std::printf("bytes %zu\n", text->size());
  return print_tally(tally, rounds);
}

int run(const std::vector<std::string>& words) {
  const std::optional<uint64_t> rounds =
      words.size() == 4 ? base::parse_u64(words[3]) : std::nullopt;
  if (rounds && *rounds > 0) {
    if (words[1] == "live") return run_live(words[2], *rounds);
    if (words[1] == "memory") return run_memory(words[2], *rounds);
    if (words[1] == "count") return run_count(words[2], *rounds);
  }
  std::fprintf(stderr,
               "usage: smaps_read live PID ROUNDS\n"
               "       smaps_read memory|count FILE ROUNDS\n");
  return 2;
}

}  // namespace
}  // namespace tidemark::bench

int main(int argc, char** argv) {
  return tidemark::bench::run(std::vector<std::string>(argv, argv + argc));
}
