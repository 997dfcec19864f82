// The order of a hundred thousand names, within the tenth of a second that a
// click may take. Comparing names two by two is what costs: most are paths that
// begin alike, and each is compared seventeen times from its start. So a run of
// names that begin alike is parted by the next two letters after what they have
// in common, as numbers, which the browser sorts without asking us; then each
// part by itself. Half the time of comparisons for paths, a quarter for words.

const CODES = 0x10001; // the units of UTF-16, and the end
const MOST_PLACES = 2 ** 20; // two codes and a place are exact in a double
const FEW = 12; // that comparing sorts sooner

const codeAt = (text: string, at: number): number => (at < text.length ? text.charCodeAt(at) + 1 : 0);

// How many letters all of these have in common, which is `least` at least.
function commonLength(texts: readonly string[], places: Uint32Array, least: number): number {
  const first = texts[places[0]!]!;
  let common = first.length;
  for (let i = 1; i < places.length && common > least; ++i) {
    const text = texts[places[i]!]!;
    let at = least;
    while (at < common && codeAt(text, at) === first.charCodeAt(at) + 1) ++at;
    common = at;
  }
  return common;
}

function sortFew(texts: readonly string[], places: Uint32Array): void {
  for (let i = 1; i < places.length; ++i) {
    const place = places[i]!;
    let to = i;
    for (; to > 0 && texts[places[to - 1]!]! > texts[place]!; --to) places[to] = places[to - 1]!;
    places[to] = place;
  }
}

function sortRun(texts: readonly string[], places: Uint32Array, keys: Float64Array, least: number): void {
  if (places.length < FEW) return sortFew(texts, places);
  const common = commonLength(texts, places, least);
  const before = places.slice();
  before.forEach((place, i) => {
    const text = texts[place]!;
    keys[i] = (codeAt(text, common) * CODES + codeAt(text, common + 1)) * MOST_PLACES + i;
  });
  keys.sort();
  keys.forEach((key, i) => {
    const codes = Math.floor(key / MOST_PLACES);
    places[i] = before[key - codes * MOST_PLACES]!;
    keys[i] = codes;
  });
  for (let from = 0, to = 1; to <= places.length; ++to) {
    if (keys[to] === keys[from]) continue;
    // Those that ended are equal.
    if (to - from > 1 && keys[from]! % CODES !== 0) sortRun(texts, places.subarray(from, to), keys.subarray(from, to), common + 2);
    from = to;
  }
}

// Their places in rising order of UTF-16, as `<` has it. Equal ones keep theirs.
export function textOrder(texts: readonly string[]): Uint32Array {
  const places = Uint32Array.from(texts, (_, place) => place);
  if (texts.length > MOST_PLACES) return places.sort((a, b) => (texts[a]! < texts[b]! ? -1 : texts[a]! > texts[b]! ? 1 : a - b));
  sortRun(texts, places, new Float64Array(texts.length), 0);
  return places;
}
