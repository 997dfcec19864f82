// VMs whose numbers are invented, but add up: a guest that grows, frees, is
// ballooned, moves its balloon and falls silent; one that never tells; one that
// comes later and goes.
const MIB = 2 ** 20;
const SECOND = 1e9;

const eased = (x, from, to) => {
  const t = Math.min(1, Math.max(0, (x - from) / (to - from)));
  return t * t * (3 - 2 * t);
};
const whole = (mib) => Math.round(mib * 256) * 4096;

function course({ pid, name, kind, given, ticks, isThere = () => true, isSplit = () => true, at, spans = [], findings = [] }) {
  const rows = ticks.map((x, i) => (isThere(i) ? at(x, isSplit(i)) : null));
  const names = [...new Set(rows.flatMap((row) => (row ? row.bands.map(([band, called]) => `${band}\0${called}`) : [])))];
  const ORDER = ["guest_used", "guest_caches", "guest_reserved", "guest_held", "guest_ram", "monitor", "helper"];
  const bands = names
    .map((key) => key.split("\0"))
    .sort((a, b) => ORDER.indexOf(a[0]) - ORDER.indexOf(b[0]))
    .map(([band, called]) => {
      const of = (row) => row.bands.find(([one, other]) => one === band && other === called);
      const known = rows.filter((row) => row && of(row)).map((row) => of(row)[2])[0];
      const otherwise = band === "guest_ram" || band === "helper" ? 0 : null;
      return { band, name: called, known_by: known, bytes: rows.map((row) => (row ? (of(row) ? whole(of(row)[3]) : otherwise) : null)) };
    });
  const sums = rows.map((row, i) => (row ? bands.reduce((sum, band) => sum + (band.bytes[i] ?? 0), 0) : null));
  const column = (key) => rows.map((row) => (row && row[key] != null ? whole(row[key]) : null));
  return {
    pid, start_ticks: pid * 7, name, kind, cgroup: "/machine.slice", backing: "memfd memory-backend-memfd", found_by: "name",
    deflates_on_oom: kind === "crosvm", free_page_reporting: kind === "qemu" ? false : null,
    peak_index: sums.indexOf(Math.max(...sums.map((sum) => sum ?? 0))),
    ticks: {
      elapsed_ns: ticks.map((_, i) => i * 5 * SECOND), bands_bytes: sums, cost_bytes: sums,
      could_come_back_bytes: rows.map((row, i) => (row && isSplit(i) ? bands.find(({ band }) => band === "guest_held")?.bytes[i] ?? null : null)),
      limit_bytes: column("limit"), rss_bytes: column("rss"), balloon_bytes: column("balloon"),
      configured_bytes: rows.map((row) => (row ? whole(given) : null)), swapped_bytes: rows.map((row) => (row ? 0 : null)), lower_bounds: [],
    },
    bands, spans, findings,
  };
}

const KNOWN = {
  guest_used: "total - balloon - free - caches", guest_caches: "guest: disk caches", guest_reserved: "configured - guest total",
  guest_held: "resident - the three before", guest_ram: "st_blocks", monitor: "PSS without guest RAM", helper: "PSS without guest RAM",
};
const band = (kind, name, mib) => [kind, name, KNOWN[kind], mib];

function debian(x, isSplit) {
  const used = 180 + 700 * eased(x, 0.02, 0.17) + 950 * eased(x, 0.25, 0.3) - 1050 * eased(x, 0.36, 0.39) + 130 * eased(x, 0.6, 0.65);
  const caches = 90 + 1350 * eased(x, 0.05, 0.36) - 900 * eased(x, 0.5, 0.55) + 350 * eased(x, 0.83, 0.95);
  const reserved = 157;
  const resident = Math.max(used + caches + reserved + 20, 3390 * eased(x, 0.05, 0.34) - 1150 * eased(x, 0.48, 0.55));
  const balloon = 1536 * eased(x, 0.47, 0.54) - 1000 * eased(x, 0.81, 0.86);
  const parts = isSplit
    ? [band("guest_used", "guest used", used), band("guest_caches", "guest caches", caches), band("guest_reserved", "guest reserved", reserved),
       band("guest_held", "free in guest, held by host", resident - used - caches - reserved)]
    : [band("guest_ram", "guest RAM", resident)];
  return {
    bands: [...parts, band("monitor", "QEMU itself", 118), band("helper", "virtiofsd", 78)],
    limit: isSplit ? 4096 - reserved - balloon : null, balloon, rss: resident + 131,
  };
}

const STALE = { finding: "statistics_stale", title: "The guest's statistics were told 23 s ago.", details: "The guest was asked since and has not answered." };
const MOVING = { finding: "unsettled", title: "The balloon is moving.", details: "Statistics and balloon are not of one moment; the next reading will tell." };

const sized = (bytes) => (bytes >= 999.5 * MIB ? `${(bytes / 1024 / MIB).toFixed(2)} GiB` : `${(bytes / MIB).toFixed(0)} MiB`);

// As the program words them.
function found(course, i) {
  const held = course.ticks.could_come_back_bytes[i];
  const caches = course.bands.find(({ band }) => band === "guest_caches").bytes[i];
  const list = [];
  if (held >= 410 * MIB) {
    list.push({ finding: "held_pages", title: `${sized(held)} is free in the guest but held by the host.`,
      details: "Free page reporting is off for this VM. With it the guest would hand such pages back by itself." });
  }
  if (caches >= 1024 * MIB) {
    list.push({ finding: "cached_twice", title: "The disk is cached twice.",
      details: `1.12 GiB of debian-ci.qcow2 is in the host's page cache and ${sized(caches)} in the guest's; a disk opened past the host's cache (cache=none) is there once.` });
  }
  return list;
}

export function vms({ name = "debian-ci", count = 181 } = {}) {
  const ticks = Array.from({ length: count }, (_, i) => i / (count - 1));
  const spanOf = (from, to) => ({ from_ns: from * 5 * SECOND, to_ns: to * 5 * SECOND, lasts: to === count - 1 });
  const silent = (i) => i >= 118 && i < 123;
  const moving = (i) => i >= 90 && i < 92;
  const list = [
    course({
      pid: 3310, name, kind: "qemu", given: 4096, ticks, at: debian, isSplit: (i) => !silent(i) && !moving(i),
      spans: [
        { unknown: "unsettled", ...spanOf(90, 92), because: "unsettled: the balloon has moved since the guest was asked" },
        { unknown: "stale", ...spanOf(118, 123), because: "the guest's statistics are 23 s old" },
      ],
    }),
    course({
      pid: 2201, name: "win11-build", kind: "qemu", given: 3072, ticks, isSplit: () => false,
      at: (x) => ({ bands: [band("guest_ram", "guest RAM", 2300 + 400 * Math.sin(6 * x)), band("monitor", "QEMU itself", 140)], rss: 2440 + 400 * Math.sin(6 * x) }),
      spans: [{ unknown: "untold", ...spanOf(0, count - 1), because: "the VM has no balloon device" }],
    }),
    course({
      pid: 4100, name: "chromeos-dev", kind: "crosvm", given: 2048, ticks, isThere: (i) => i >= 30 && i < 150,
      at: (x) => ({
        bands: [band("guest_used", "guest used", 300 + 500 * x), band("guest_caches", "guest caches", 200), band("guest_reserved", "guest reserved", 60),
          band("guest_held", "free in guest, held by host", 88), band("monitor", "crosvm itself", 40), band("helper", "pcivirtio-block", 12), band("helper", "pcivirtio-gpu", 25)],
        limit: 1900, balloon: 88, rss: 700 + 500 * x,
      }),
      spans: [{ unknown: "absent", ...spanOf(0, 30), because: "it was not there" }, { unknown: "absent", ...spanOf(150, count - 1), because: "it was not there" }],
    }),
  ];
  list[0].findings = ticks.map((_, i) => ({ tick_index: i, findings: silent(i) ? [STALE] : moving(i) ? [MOVING] : found(list[0], i) }));
  const sum = (key, i) => list.reduce((all, one) => all + (one.ticks[key][i] ?? 0), 0);
  return {
    schema: "tidemark.vms/1", recording: "kvm-03.tdm", start: "2026-01-02T03:04:05.000000000Z", elapsed_ns: (count - 1) * 5 * SECOND,
    scan_count: count, unseen_process_count: 0,
    total: {
      elapsed_ns: list[0].ticks.elapsed_ns, cost_bytes: ticks.map((_, i) => sum("cost_bytes", i)),
      could_come_back_bytes: ticks.map((_, i) => sum("could_come_back_bytes", i)), configured_bytes: ticks.map((_, i) => sum("configured_bytes", i)),
      vm_count: ticks.map((_, i) => list.filter((one) => one.ticks.bands_bytes[i] !== null).length),
      answering_count: ticks.map((_, i) => list.filter((one) => one.ticks.limit_bytes[i] !== null).length),
    },
    vms: list,
  };
}
