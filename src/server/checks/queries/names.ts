// Names of scheduled queries as sent to agents and as returned by them (docs/protocols/agent.md, Configuration).

/** Since 5.19 agents skip queries whose names collide with their internal keys. */
const skipped = /^(?:query|cache|config_views)\.|(?:epoch|counter)$/;

/**
 * The name to send for each query, by id. Names that agents accept are sent unchanged. To the others underscores are
 * appended until they are accepted and unique.
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
 * The possible ways to split a result name, most likely first. The format is `pack`, a delimiter, `Global` or
 * `team-<id>`, the same delimiter, and the query name. The delimiter may have several characters and may occur in the
 * name.
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
