#!/usr/bin/env python3
"""treemap_rules.py [FILE… | --self-test]: would Fuchsia's treemap script take this graph?

Reads the JSON of `tidemark graph` from the files or standard input, puts it
together as that script does, and prints each rule it breaks: those that stop the
script, those that make it draw nonsense in silence (a parent that does not
exist, an id that comes twice, a negative box), and those of memgraph's schema.
On top of them ours: parts of RAM add up to RAM, and nothing is negative.
"""

import datetime
import json
import sys

TYPES = {"kernel": "kernel/", "j": "j/", "p": "p/", "t": "t/"}
RESERVED = "kernel/vmo/unknown"  # the box the script makes itself
ROOT = "kernel/physmem"
VMO = "kernel/vmo"


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class Judge:
    def __init__(self, records):
        self.breaches = []
        self.records = records
        self.nodes = {}
        self.areas = {}  # of processes

    def breach(self, where, what):
        self.breaches.append(f"{where}: {what}")

    # ---- each record -------------------------------------------------------

    def judge_node(self, record):
        """True when it can be put into the tree."""
        where = repr(record.get("id"))
        for member in ("id", "parent", "name"):
            if not isinstance(record.get(member), str):
                self.breach(where, f"{member} is no text")
                return False
        kind, ident = record["type"], record["id"]
        if not ident.startswith(TYPES[kind]):
            self.breach(where, f"an id of type {kind} begins with {TYPES[kind]}")
        if ident == RESERVED:
            self.breach(where, "the script makes this one itself")
        if ident in self.nodes:
            self.breach(where, "this id comes twice")
            return False
        self.nodes[ident] = record
        if kind != "kernel":
            koid = record.get("koid")
            if not is_count(koid) or koid == 0:
                self.breach(where, "koid is no positive integer")
            elif ident != f"{TYPES[kind]}{koid}":
                self.breach(where, f"its koid is {koid}")
        return True

    def judge_kernel(self, record):
        if not is_count(record.get("size_bytes")):
            self.breach(record["id"], "size_bytes is no size")

    def judge_thread(self, record):
        if not isinstance(record.get("state"), str):
            self.breach(record["id"], "state is no text")

    def judge_process(self, record):
        for member in ("private_bytes", "shared_bytes", "pss_bytes"):
            if not is_count(record.get(member)):
                self.breach(record["id"], f"{member} is no size")
                return
        for kind, count in record.get("handle_stats", {}).items():
            if not is_count(count):
                self.breach(record["id"], f"handle_stats: {kind} is no count")
        if record.get("vmo_refs"):
            self.areas[record["id"]] = self.area_by_objects(record)
        else:
            private, share = record["private_bytes"], record["pss_bytes"]
            self.areas[record["id"]] = private + max(0, share - private)

    def references(self, record):
        via = {}
        for reference in record["vmo_refs"]:
            if not is_count(reference.get("vmo_koid")):
                self.breach(record["id"], "a reference without vmo_koid")
                continue
            kinds = via.setdefault(reference["vmo_koid"], set())
            if not isinstance(reference.get("via"), list):
                self.breach(record["id"], "via is no list")
                continue
            kinds.update(reference["via"])
            if kinds - {"HANDLE", "MAPPING"}:
                self.breach(record["id"], f"via {kinds} is unknown")
        return via

    def area_by_objects(self, record):
        via, seen, area = self.references(record), set(), 0
        for vmo in record.get("vmos", []):
            koid = vmo.get("koid")
            where = f"{record['id']} vmo {koid}"
            if not is_count(koid) or not isinstance(vmo.get("name"), str):
                self.breach(where, "no koid, or no name")
                continue
            if koid in seen:
                continue
            seen.add(koid)
            if not is_count(vmo.get("committed_bytes")) or \
                    not is_count(vmo.get("share_count")):
                self.breach(where, "committed_bytes or share_count is no count")
                continue
            if vmo["name"].isdigit():
                self.breach(where, "a name that is a number may hide another box")
            area += self.area(where, vmo, via.get(koid, set()))
        for koid in set(via) - seen:
            self.breach(record["id"], f"refers to vmo {koid}, which is not there")
        return area

    def area(self, where, vmo, via):
        if "MAPPING" in via:
            if vmo["share_count"] < 1:
                self.breach(where, "mapped, and shared by nobody")
                return 0
            return int(float(vmo["committed_bytes"]) / vmo["share_count"])
        if via != {"HANDLE"}:
            self.breach(where, "there is no reference to it")
            return 0
        return int(float(vmo["committed_bytes"]) / (vmo["share_count"] + 1.0))

    # ---- all of them -------------------------------------------------------

    def judge_tree(self):
        roots = [n["id"] for n in self.nodes.values() if not n["parent"]]
        if roots != [ROOT]:
            self.breach("roots", f"{roots}, and it should be {ROOT} alone")
        if VMO not in self.nodes:
            self.breach("kernel", f"there is no {VMO}")
        jobs = [n["id"] for n in self.nodes.values()
                if n["type"] == "j" and n["parent"].startswith("kernel/")]
        if len(jobs) != 1:
            self.breach("root jobs", f"{jobs}, and it should be one")
        parents = {"kernel": {"kernel"}, "j": {"j", "kernel"}, "p": {"j"},
                   "t": {"p"}}
        for node in self.nodes.values():
            if not node["parent"]:
                continue
            above = self.nodes.get(node["parent"])
            if above is None:
                self.breach(node["id"], f"its parent {node['parent']} is missing")
            elif above["type"] not in parents[node["type"]]:
                self.breach(node["id"], f"its parent {node['parent']} is no home")
            elif not self.reaches_root(node):
                self.breach(node["id"], "it is above itself")

    def reaches_root(self, node):
        for _ in range(len(self.nodes)):
            if not node["parent"]:
                return True
            node = self.nodes.get(node["parent"], {"parent": ""})
        return False

    def judge_sums(self):
        for ident in (ROOT, "kernel/heap", "kernel/other"):
            parts = [n["size_bytes"] for n in self.nodes.values()
                     if n["parent"] == ident and n["type"] == "kernel"]
            whole = self.nodes.get(ident, {}).get("size_bytes")
            if parts and sum(parts) != whole:
                self.breach(ident, f"is {whole}, and its parts are {sum(parts)}")
        for ident in ("free", "vmo", "heap", "heap/allocated", "heap/free",
                      "wired", "mmu", "other"):
            if f"kernel/{ident}" not in self.nodes:
                self.breach(f"kernel/{ident}", "is missing")
        shares = sum(n["pss_bytes"] for n in self.nodes.values()
                     if n["type"] == "p")
        have = self.nodes.get(VMO, {}).get("size_bytes", 0)
        for what, bytes_ in (("boxes", sum(self.areas.values())),
                             ("shares", shares)):
            if bytes_ > have:
                self.breach(VMO, f"is {have}, and the {what} of processes are "
                                 f"{bytes_}: unknown would be negative")

    def judge_meta(self):
        last = self.records[-1]
        if last.get("type") != "__META":
            self.breach("last record", "is not __META")
            return
        try:
            time = datetime.datetime.strptime(
                last["timestamp"][:19] + last["timestamp"][-1],
                "%Y-%m-%dT%H:%M:%SZ")
            if time.year < 1970:
                self.breach("__META", "its time is before all times")
        except (KeyError, ValueError, TypeError):
            self.breach("__META", "its timestamp is no time in UTC")

    def judge(self):
        if not isinstance(self.records, list) or not self.records:
            return ["this is no array of records"]
        kinds = {"kernel": self.judge_kernel, "j": lambda record: None,
                 "p": self.judge_process, "t": self.judge_thread}
        for record in self.records:
            kind = record.get("type") if isinstance(record, dict) else None
            if not isinstance(kind, str):
                self.breach("a record", "has no type")
            elif kind.startswith("__"):
                continue
            elif kind not in kinds:
                self.breach("a record", f"is of type {kind!r}")
            elif self.judge_node(record):
                kinds[kind](record)
        self.judge_meta()
        if not self.breaches:
            self.judge_tree()
            self.judge_sums()
        return self.breaches


def breaches(records):
    """The rules that these records break, as sentences."""
    return Judge(records).judge()


# ---- whether it bites ------------------------------------------------------

def example():
    def kernel(name, parent, size):
        return {"id": f"kernel/{name}", "type": "kernel", "parent": parent,
                "name": name, "size_bytes": size}

    return [
        kernel("physmem", "", 100), kernel("free", ROOT, 10),
        kernel("vmo", ROOT, 60), kernel("heap", ROOT, 10),
        kernel("heap/allocated", "kernel/heap", 7),
        kernel("heap/free", "kernel/heap", 3), kernel("wired", ROOT, 5),
        kernel("mmu", ROOT, 5), kernel("other", ROOT, 10),
        {"id": "j/1", "type": "j", "parent": VMO, "name": "root", "koid": 1},
        {"id": "p/2", "type": "p", "parent": "j/1", "name": "a", "koid": 2,
         "private_bytes": 10, "shared_bytes": 8, "pss_bytes": 14,
         "vmos": [{"koid": 3, "name": "x", "committed_bytes": 28,
                   "share_count": 2}],
         "vmo_refs": [{"vmo_koid": 3, "via": ["MAPPING"]}]},
        {"id": "t/4", "type": "t", "parent": "p/2", "name": "a", "koid": 4,
         "state": "RUNNING"},
        {"type": "__META", "timestamp": "2026-11-15T08:09:03.5Z"},
    ]


# What is done to the example (record, member, value); a value of None takes the
# member away.
WRONGS = [
    (0, "parent", VMO), (0, "size_bytes", 101), (1, "size_bytes", -10),
    (1, "parent", ""), (2, "id", "kernel/vmos"), (2, "size_bytes", 60.0),
    (4, "size_bytes", 8), (8, "id", RESERVED), (9, "parent", "j/1"),
    (9, "koid", "1"), (9, "name", None), (10, "parent", "j/9"),
    (10, "parent", "kernel/vmo"), (10, "pss_bytes", 61),
    (10, "private_bytes", None), (10, "vmos", []),
    (10, "vmo_refs", [{"vmo_koid": 3, "via": []}]),
    (10, "vmos", [{"koid": 3, "name": "x", "committed_bytes": 28,
                   "share_count": 0}]),
    (10, "vmos", [{"koid": 3, "name": "x", "committed_bytes": 128,
                   "share_count": 2}]),
    (10, "vmos", [{"koid": 3, "name": None, "committed_bytes": 28,
                   "share_count": 2}]),
    (11, "state", None), (11, "id", "p/2"), (11, "type", "x"),
    (12, "timestamp", "yesterday"), (12, "type", "meta"),
]


def self_test():
    wrong = [f"wrongly refused: {line}" for line in breaches(example())]
    for place, member, value in WRONGS:
        records = example()
        records[place][member] = value
        if value is None:
            del records[place][member]
        if not breaches(records):
            wrong.append(f"missed: {member} of {place} is {value!r}")
    print("\n".join(wrong) if wrong else "every rule bites")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    failed = False
    for name in sys.argv[1:] or ["-"]:
        if name == "-":
            records = json.load(sys.stdin)
        else:
            with open(name, encoding="utf-8") as file:
                records = json.load(file)
        found = breaches(records)
        failed = failed or bool(found)
        print("\n".join(found) if found else "accepted")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
