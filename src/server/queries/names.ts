// Names of scheduled queries on their way to agents and back (agent protocol, sections 4 and 5).

/** Since 5.19 agents skip queries whose names collide with keys of their own. */
const skipped = /^(?:query|cache|config_views)\.|(?:epoch|counter)$/;

/**
 * The name that agents get of each query, by id: its own, or one that they would not skip. Names that can be sent as
 * they are keep them; the others get an underscore at the end that spoils, as many as make them unique.
 */
export function namesAsSent(queries: readonly { readonly id: number; readonly name: string }[]): Map<number, string> {
  const sent = new Map<number, string>();
  const taken = new Set<string>();
  const spoiled = [];
  for (const query of queries) {
    if (skipped.test(query.name)) {
      spoiled.push(query);
      continue;
    }
    sent.set(query.id, query.name);
    taken.add(query.name);
  }
  for (const { id, name } of spoiled.sort((a, b) => a.id - b.id)) {
    let other = name.replace(/^(?=(?:query|cache|config_views)\.)/, "_").replace(/(epoch|counter)$/, "$1_");
    while (taken.has(other)) other += "_";
    sent.set(id, other);
    taken.add(other);
  }
  return sent;
}

const NAME_MAX = 2048;
const scope = /Global|team-([1-9]\d{0,14})/g;

/**
 * The ways to read a result name as one of ours: `pack`, a delimiter, `Global` or `team-<id>`, the same delimiter, the query's name.
 * The delimiter may be of several characters and occur in the name. The first way that fits is the one most likely meant.
 */
export function* splitResultName(name: string): Generator<{ teamId: number | null; name: string }> {
  if (!name.startsWith("pack") || name.length > NAME_MAX) return;
  const rest = name.slice("pack".length);
  for (const match of rest.matchAll(scope)) {
    if (match.index === 0) continue;
    const delimiter = rest.slice(0, match.index);
    const after = rest.slice(match.index + match[0].length);
    if (!after.startsWith(delimiter) || after.length === delimiter.length) continue;
    yield { teamId: match[1] === undefined ? null : Number(match[1]), name: after.slice(delimiter.length) };
  }
}
