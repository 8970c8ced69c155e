// Lists that two people change at the same time.

/**
 * The list as it is stored now, with what somebody has added, removed and moved since it was `before`. Null: an item that
 * has another value in `after` is not stored any more, so somebody else has changed or removed it.
 */
export function mergedList<Item>(
  before: readonly Item[],
  after: readonly Item[],
  stored: readonly Item[],
): readonly Item[] | null {
  const [old, desired, current] = [before, after, stored].map(keysOf) as [Keys, Keys, Keys];
  const isAdded = (item: Item): boolean => !old.has(keyOf(item));
  const isRemovedByBoth = before.some((item) => !desired.has(keyOf(item)) && !current.has(keyOf(item)));
  const additions = after.filter((item) => isAdded(item) && !current.has(keyOf(item)));
  if (isRemovedByBoth && additions.length > 0) return null;
  if (stored.length === before.length && stored.every((item) => !isAdded(item))) return after;
  const kept = after.filter((item) => !isAdded(item) && current.has(keyOf(item)));
  return [...kept, ...stored.filter(isAdded), ...additions];
}

type Keys = ReadonlySet<string>;

const keyOf = (item: unknown): string => JSON.stringify(item);
const keysOf = (items: readonly unknown[]): Keys => new Set(items.map(keyOf));
