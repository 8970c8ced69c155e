// Shortens the activity of an apply, which may cover thousands of objects but is a single entry in the feed.

/** The maximum number of objects recorded in full, and their maximum total length in characters. */
const MAX_IN_FULL = 100;
const CHARACTERS_MAX = 64 * 1024;
/** The maximum number of objects recorded by name. */
const MAX_NAMED = 2_000;

/** Returns the first items in full and further ones by name, with the total number. */
export function briefly<T, W, N>(
  items: readonly T[],
  whole: (item: T) => W,
  name: (item: T) => N,
): { sample: (W | N)[]; count: number } {
  const sample: (W | N)[] = [];
  let charactersLeft = CHARACTERS_MAX;
  for (const item of items.slice(0, MAX_NAMED)) {
    const inFull = sample.length < MAX_IN_FULL && charactersLeft > 0 ? whole(item) : null;
    if (inFull !== null) charactersLeft -= JSON.stringify(inFull).length;
    sample.push(inFull !== null && charactersLeft >= 0 ? inFull : name(item));
  }
  return { sample, count: items.length };
}
