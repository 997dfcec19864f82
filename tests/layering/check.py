#!/usr/bin/env python3
"""check.py SRC | --self-test: holds the rooms of src/ to their directions.

All rooms share one include root, so the compiler would let base/ include cli/.
This reads the #include lines instead and prints every one that breaks a rule:
a room sees only the rooms listed for it, and a library with a heavy price (start
time, a C API, exceptions) appears only where it was let in.
"""

import pathlib
import re
import sys
import tempfile

SEES = {
    "base": set(),
    "model": {"base"},
    "parse": {"model", "base"},
    "source": {"parse", "model", "base"},
    "store": {"model", "base"},
    "analysis": {"model", "base"},
    "watch": {"source", "store", "analysis", "model", "base"},
    "view": {"analysis", "model", "base"},
    "cli": {"view", "watch", "analysis", "store", "source", "parse", "model",
            "base"},
}

# Library header, where it may appear (path under src/), how to say so.
RESTRICTED = [
    (r"sqlite3(ext)?\.h$", r"store/", "store/"),
    (r"zlib\.h$", r"base/gzip\.cc$", "base/gzip.cc"),
    (r"(bpf/|libbpf)", r"source/", "source/"),
    (r"(elfutils/|dwarf\.h$|libelf\.h$|gelf\.h$)", r"source/(elf_names|user_unwinder)\.cc$",
     "source/elf_names.cc and user_unwinder.cc"),
    (r"(ncursesw?/|curses\.h$|ncurses\.h$|panel\.h$)", r"view/tui/screen\.cc$",
     "view/tui/screen.cc"),
    (r"fmt/", r"(view|cli)/", "view/ and cli/"),
    (r"CLI/", r"cli/(options|main)\.cc$", "cli/options.cc and cli/main.cc"),
    (r"nlohmann/", r"parse/(memstats|bucket_rules|graph_records|gate_baseline|vm_\w+)\.cc$",
     "the parsers of JSON in parse/"),
    (r"boost/(beast|asio)", r"(base/http|view/web)",
     "base/http* and view/web"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]', re.MULTILINE)


def breach(path, bracket, target):
    """Why `path` (under src/) may not include `target`; None when it may."""
    for header, place, words in RESTRICTED:
        if re.match(header, target) and not re.match(place, path):
            return f"belongs only in {words}"
    room, other = path.split("/")[0], target.split("/")[0]
    if bracket == "<":
        return "ours, so \"…\"" if other in SEES and "/" in target else None
    if "/" not in target or other not in SEES:
        return "not a path from src/"
    if other != room and other not in SEES[room]:
        return f"{room}/ may not see {other}/"
    return None


def breaches(src):
    """All broken rules under src, as 'path:line: #include what: why'."""
    found = []
    for file in sorted(src.rglob("*")):
        if file.suffix not in (".cc", ".h", ".c"):
            continue
        path = file.relative_to(src).as_posix()
        if path.split("/")[0] not in SEES:
            found.append(f"{path}: no such room")
            continue
        text = file.read_text(encoding="utf-8")
        for match in INCLUDE.finditer(text):
            why = breach(path, match[1], match[2])
            if why:
                line = text.count("\n", 0, match.start(1)) + 1
                found.append(f"{path}:{line}: #include {match[2]}: {why}")
    return found


def tree(folder, files):
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


BAD = {
    "base/a.cc": '#include "model/m.h"\n',
    "model/a.h": "#include <vector>\n#include <sqlite3.h>\n",
    "parse/a.cc": '#include "source/s.h"\n',
    "source/a.cc": "#include <fmt/format.h>\n",
    "store/a.cc": '#include "parse/p.h"\n',
    "analysis/a.cc": '  #  include "view/v.h"\n',
    "watch/a.cc": '#include "view/v.h"\n',
    "view/text/a.cc": "#include <curses.h>\n",
    "view/tui/a.cc": "#include <curses.h>\n",
    "view/b.cc": '#include "source/s.h"\n',
    "cli/ps.cc": "#include <CLI/CLI.hpp>\n",
    "cli/a.cc": "#include <base/text.h>\n",
    "cli/b.cc": '#include "ps.h"\n',
    "cli/c.cc": "#include <nlohmann/json.hpp>\n",
    "base/b.cc": "#include <boost/asio.hpp>\n",
    "watch/b.cc": "#include <bpf/libbpf.h>\n",
    "source/b.cc": "#include <elfutils/libdwfl.h>\n",
    "utils/a.h": "",
}
GOOD = {
    "base/a.h": "#include <vector>\n// #include \"cli/x.h\"\n",
    "base/http.cc": "#include <boost/beast.hpp>\n",
    "source/a.cc": '#include "parse/p.h"\n#include <bpf/libbpf.h>\n',
    "source/elf_names.cc": "#include <elfutils/libdwfl.h>\n",
    "source/user_unwinder.cc": "#include <elfutils/libdwfl.h>\n",
    "store/a.cc": "#include <sqlite3.h>\n",
    "parse/memstats.cc": "#include <nlohmann/json.hpp>\n",
    "view/tui/screen.cc": '#include <curses.h>\n#include "analysis/a.h"\n',
    "view/text/a.cc": '#include <fmt/format.h>\n#include "view/v.h"\n',
    "watch/a.cc": '#include "store/s.h"\n#include "source/s.h"\n',
    "cli/options.cc": '#include <CLI/CLI.hpp>\n#include "watch/w.h"\n',
}


def self_test():
    """Exits non-zero unless each bad file is named and no good one is."""
    with tempfile.TemporaryDirectory() as scratch:
        bad, good = pathlib.Path(scratch, "bad"), pathlib.Path(scratch, "good")
        tree(bad, BAD)
        tree(good, GOOD)
        found = breaches(bad)
        named = {line.split(":")[0] for line in found}
        missed, wrong = set(BAD) - named, breaches(good)
    for path in sorted(missed):
        print(f"missed: {path}: {BAD[path]!r}")
    for line in wrong:
        print(f"wrongly refused: {line}")
    return 1 if missed or wrong or len(found) != len(BAD) else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = breaches(pathlib.Path(sys.argv[1]))
    print("\n".join(found) if found else "every include keeps its direction")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
