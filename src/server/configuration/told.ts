// An apply of thousands of things is one entry of the feed, and the feed is no place for megabytes.

/** Things told whole at most, and the characters that they may have together. */
const WHOLE = 100;
const CHARACTERS = 64 * 1024;
/** Things named at most. */
const NAMED = 2_000;

/** The first ones whole, more by name; and how many there are. */
export function briefly<T, W, N>(
  items: readonly T[],
  whole: (item: T) => W,
  name: (item: T) => N,
): { some: (W | N)[]; count: number } {
  const some: (W | N)[] = [];
  let left = CHARACTERS;
  for (const item of items.slice(0, NAMED)) {
    const one = some.length < WHOLE && left > 0 ? whole(item) : null;
    if (one !== null) left -= JSON.stringify(one).length;
    some.push(one !== null && left >= 0 ? one : name(item));
  }
  return { some, count: items.length };
}
