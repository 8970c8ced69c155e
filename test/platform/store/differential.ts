// Random operations on two stores: every result must be the same. Ids are explicit, so that they are equal too.
import fc from "fast-check";
import type { OrderTerm, Predicate } from "../../../src/server/platform/store/query.ts";
import * as q from "../../../src/server/platform/store/query.ts";
import { side } from "../../../src/server/platform/store/sides.ts";
import { ReferenceViolation, type Store, type Tx, UniqueViolation } from "../../../src/server/platform/store/store.ts";
import { details, hosts, type TestTables, tags, teams } from "./tables.ts";

type TestStore = Pick<Tx<TestTables>, keyof TestTables>;
/** One operation; its result is compared. */
export interface Command {
  readonly label: string;
  run(store: TestStore): Promise<unknown>;
}
export interface Transaction {
  readonly fails: boolean;
  readonly commands: readonly Command[];
}
export type Step = Command | Transaction;

const NASTY = ["", "a", "A", "ab", "%", "_", "a%b", "a_b", "\\", "\\%", "'", '"', "\0", "x\0y", "\ud800", "x\udc00y", "\u{1F600}",
  "\uFF00", "é", "É", "e\u0301", "ß", "SS", "İ", "i\u0307", "I", "ı", "Σ", "ς", "σ", "ﬁ", "Ǆ", "ǆ", "Å", "\u212B", " ", "a b", "\n", "\ufffd", "Z", "z"]; // biome-ignore format: a list
const nasty = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 1, arbitrary: fc.string({ maxLength: 4, unit: "binary" }) },
);
const id = fc.integer({ min: 1, max: 10 });
const small = fc.oneof(fc.integer({ min: -2, max: 3 }), fc.constantFrom(2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 31));
const real = fc.constantFrom(0, -0, 0.1, -1.5, 1e300, 5e-324, 2 ** 53, 3);
const time = fc
  .constantFrom(0, 1, 999, 1_700_000_000_000, -1, 253_402_300_799_999)
  .map((ms) => new Date(ms).toISOString());
const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 3 });

const values = { name: nasty, note: nasty, rank: small, load: real, online: fc.boolean(), seen_at: time } as const;
const column = fc.constantFrom(...(Object.keys(values) as (keyof typeof values)[]));
const host = fc.record({
  id,
  team_id: orNull(id),
  name: nasty,
  note: orNull(nasty),
  rank: orNull(small),
  load: real,
  online: fc.boolean(),
  seen_at: orNull(time),
  facts: fc.jsonValue({ maxDepth: 2 }),
  token: orNull(nasty),
});
const detail = fc.record({ id, software: fc.array(small, { maxLength: 5 }), users: fc.jsonValue({ maxDepth: 2 }) });
const tag = fc.record({ id, host_id: id, label: nasty });
const team = fc.record({ id, name: nasty, code: orNull(nasty) });

const comparison: fc.Arbitrary<Predicate> = column.chain((name) => {
  const value: fc.Arbitrary<string | number | boolean> = values[name];
  const equal = fc.oneof(
    orNull(value).map((v) => q.eq(name, v)),
    fc.array(value, { maxLength: 3 }).map((list) => q.oneOf(name, list)),
    fc.constant(q.isNull(name)),
  );
  if (name === "online") return equal;
  const range = fc
    .tuple(fc.constantFrom(q.lt, q.lte, q.gt, q.gte), value)
    .map(([compare, v]) => compare(name, v as string | number));
  return fc.oneof(equal, range);
});
const ofTags: fc.Arbitrary<Predicate> = fc.oneof(
  fc.constant(q.everything),
  nasty.map((label) => q.eq("label", label)),
  nasty.map((label) => q.gte("label", label)),
);
/** A row with a related one such that ..., or without any and ...: the common part is not decisive. */
const relatedOrLacking: fc.Arbitrary<Predicate> = fc
  .tuple(small, fc.oneof(fc.constant(q.everything), comparison))
  .map(([revision, lacking]) =>
    q.or(q.exists(details, "id", q.gt("revision", revision)), q.and(q.not(q.exists(details, "id")), lacking)),
  );
/** Has a member or a related row such that ...: an engine may look for each alternative apart. */
const memberOrRelated: fc.Arbitrary<Predicate> = fc
  .tuple(comparison, nasty, ofTags)
  .chain(([inner, team, tag]) =>
    fc.shuffledSubarray(
      [
        q.exists(details, "id", q.hasOf("software", hosts, inner, "rank")),
        q.exists(teams, "id", q.eq("name", team), "team_id"),
        q.exists(tags, "host_id", tag),
      ],
      { minLength: 2 },
    ),
  )
  .map((parts) => q.or(...parts));
const where: fc.Arbitrary<Predicate> = fc.letrec<{ tree: Predicate }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    comparison,
    fc.oneof(
      id.map((v) => q.eq("id", v)),
      fc.array(id, { maxLength: 4 }).map((list) => q.oneOf("id", list)),
    ),
    orNull(id).map((v) => q.eq("team_id", v)),
    fc
      .tuple(fc.subarray(["name", "note"], { minLength: 1 }), nasty, fc.boolean())
      .map(([columns, text, isStart]) => (isStart ? q.startsWith(columns, text) : q.search(columns, text))),
    fc
      .tuple(fc.constantFrom("name", "note"), fc.array(nasty, { maxLength: 3 }), fc.boolean())
      .map(([column, texts, upper]) => q.same(column, ...texts.map((text) => (upper ? text.toUpperCase() : text)))),
    ofTags.map((inner) => q.exists(tags, "host_id", inner)),
    nasty.map((name) => q.exists(teams, "id", q.eq("name", name), "team_id")),
    fc.array(small, { maxLength: 3 }).map((list) => q.exists(details, "id", q.has("software", ...list))),
    fc
      .tuple(fc.constantFrom("id", "rank"), fc.oneof(fc.constant(q.everything), comparison))
      .map(([from, inner]) => q.exists(details, "id", q.hasOf("software", hosts, inner, from))),
    fc.tuple(fc.constantFrom("name", "note"), nasty).map(([name, text]) => q.contains(name, text)),
    relatedOrLacking,
    memberOrRelated,
    nasty.map((text) => q.or(q.search(["name", "note"], text), q.exists(tags, "host_id", q.search(["label"], text)))),
    fc.constantFrom(q.everything, q.nothing),
    fc.array(tie("tree"), { maxLength: 3 }).map((parts) => q.and(...parts)),
    fc.array(tie("tree"), { maxLength: 3 }).map((parts) => q.or(...parts)),
    tie("tree").map(q.not),
  ),
})).tree;

const direction = fc.constantFrom("asc" as const, "desc" as const);
const term: fc.Arbitrary<OrderTerm> = fc.oneof(
  fc.record({ column: fc.oneof(column, fc.constantFrom("id", "team_id", "revision")), direction }),
  direction.map((d) => ({ column: "name", direction: d, of: teams, on: "team_id" })),
  direction.map((d) => ({ column: "revision", direction: d, of: details, on: "id" })),
);
const select = fc.record(
  {
    where,
    order: fc.array(term, { maxLength: 3 }),
    limit: fc.integer({ min: 0, max: 5 }),
    offset: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: [] },
);

const show = (...parts: unknown[]): string =>
  JSON.stringify(parts, (key, v) => ((key === "table" || key === "of") && v ? v.name : v));
const command = <T>(name: string, arbitrary: fc.Arbitrary<T>, run: (store: TestStore, input: T) => Promise<unknown>) =>
  arbitrary.map((input): Command => ({ label: show(name, input), run: (store) => run(store, input) }));

const part = fc.record(
  { note: orNull(nasty), rank: orNull(small), seen_at: orNull(time), token: orNull(nasty) },
  { requiredKeys: [] },
);
const setOf = fc.oneof(
  part,
  host.map(({ id: _, ...rest }) => rest),
);

const writes: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: command("teams.insert", team, (s, row) => s.teams.insert(row)) },
  { weight: 5, arbitrary: command("hosts.insert", fc.array(host, { minLength: 1, maxLength: 3 }), (s, rows) => s.hosts.insertMany(rows as never)) },
  { weight: 2, arbitrary: command("details.upsert", fc.array(detail, { maxLength: 3 }), (s, rows) => s.details.upsert(rows, { on: ["id"] })) },
  { weight: 2, arbitrary: command("tags.upsert", fc.array(tag, { maxLength: 3 }), (s, rows) => s.tags.upsert(rows, { on: ["host_id", "label"] })) },
  { weight: 2, arbitrary: command("hosts.upsert", fc.array(host, { maxLength: 3 }), (s, rows) => s.hosts.upsert(rows as never, { on: ["team_id", "name"] })) },
  { weight: 1, arbitrary: command("hosts.upsert set", fc.array(host, { maxLength: 3 }), (s, rows) => s.hosts.upsert(rows as never, { on: ["id"], set: ["rank", "note", "facts"] })) },
  // One row at a time if codes may change: it is undefined whether a batch may move one from row to row.
  { weight: 1, arbitrary: command("teams.upsert", team, (s, row) => s.teams.upsert([row], { on: ["name"] })) },
  { weight: 1, arbitrary: command("teams.upsert new", fc.array(team, { maxLength: 3 }), (s, rows) => s.teams.upsert(rows, { on: ["name"], set: [] })) },
  { weight: 1, arbitrary: command("locks.insert", id, (s, host_id) => s.locks.upsert([{ id: host_id, host_id, reason: "r" }], { on: ["id"] })) },
  { weight: 3, arbitrary: command("hosts.update", fc.record({ where, set: setOf }), (s, change) => s.hosts.update(change as never)) },
  { weight: 2, arbitrary: command("hosts.updateEach", fc.uniqueArray(fc.record({ id, rank: orNull(small), note: orNull(nasty) }), { selector: (c) => c.id, maxLength: 4 }), (s, changes) => s.hosts.updateEach(changes)) },
  { weight: 1, arbitrary: command("hosts.delete", where, (s, w) => s.hosts.delete(w)) },
  { weight: 1, arbitrary: command("teams.delete", id, (s, v) => s.teams.delete(q.eq("id", v))) },
  { weight: 1, arbitrary: command("locks.delete", id, (s, v) => s.locks.delete(q.eq("id", v))) },
  { weight: 1, arbitrary: command("tags.delete", ofTags, (s, w) => s.tags.delete(w)) },
); // biome-ignore format: a table

const WIDE = ["id", "revision", "team_id", "name", "note", "rank", "load", "online", "seen_at", "token"] as const;
const reads: fc.Arbitrary<Command> = fc.oneof(
  command("hosts.list", select, (s, query) => s.hosts.list(query)),
  command("hosts.pick", select, (s, query) => s.hosts.pick(["name", "token", "facts"], query)),
  command("hosts.list few", select, (s, query) => s.hosts.list({ ...query, few: true })),
  command("hosts.pick wide", where, (s, w) => s.hosts.pick(WIDE, { where: w, transient: true })),
  command("hosts.sides", fc.array(id, { maxLength: 4 }), (s, list) => s.hosts.sides(list, { one: side(details, "revision", "users"), two: side(details, "software") })),
  command("hosts.pages of columns", fc.record({ where, order: fc.array(term, { maxLength: 2 }) }), async (s, query) => {
    const pages: unknown[] = [];
    for await (const page of s.hosts.pages(query, 2, ["note"])) pages.push(...page);
    return pages;
  }),
  command("hosts.batches", fc.record({ where, order: fc.array(term, { maxLength: 2 }) }), async (s, query) => {
    const rows: unknown[] = [];
    const sides = { one: side(details, "revision", "users"), two: side(details, "software") };
    const chosen = (row: Readonly<Record<string, unknown>>) => WIDE.map((column) => row[column]);
    for await (const batch of s.hosts.batches(WIDE, sides, query, 2))
      for (const [place, id] of batch.ids.entries()) rows.push([id, chosen(batch.row(place)), batch.sides(place)]);
    return rows;
  }),
  command("hosts.after", fc.record({ select, at: fc.nat(9) }), async (s, { select: { order = [], ...rest }, at }) => {
    const all = await s.hosts.list({ order });
    const row = all[at % Math.max(1, all.length)];
    if (!row) return null;
    const after = await s.hosts.positionOf(row, order);
    return [after, await s.hosts.list({ ...rest, order, after })];
  }),
  command("hosts.pages", fc.record({ where, order: fc.array(term, { maxLength: 2 }) }), async (s, query) => {
    const pages: unknown[] = [];
    for await (const page of s.hosts.pages(query, 2)) pages.push(...page);
    return pages;
  }),
  command("hosts.count", where, (s, w) => s.hosts.count(w)),
  command("hosts.groupCount", fc.tuple(fc.oneof(column, fc.constant("team_id" as const)), where), (s, [name, w]) => s.hosts.groupCount(name, w)),
  command("hosts.max", fc.tuple(fc.constantFrom("name", "rank", "load", "seen_at", "id"), where), (s, [name, w]) => s.hosts.max(name as "name", w)),
  command("hosts.getMany", fc.array(id, { maxLength: 4 }), async (s, list) => s.hosts.getMany(list)),
  command("details.list of", comparison, (s, w) => s.details.list({ where: q.hasOf("software", hosts, w, "rank") })),
  command("details.list", fc.array(small, { maxLength: 3 }), (s, list) => s.details.list({ where: q.has("software", ...list) })),
  command("details.groupCount", fc.constant(null), (s) => s.details.groupCount("software")),
  command("tags.list", direction.chain((d) => nasty.map((name) => [d, name] as const)), (s, [d, name]) =>
    s.tags.list({ where: q.not(q.exists(hosts, "id", q.eq("name", name), "host_id")), order: [{ column: "name", direction: d, of: hosts, on: "host_id" }] })),
); // biome-ignore format: a table

const anyCommand = fc.oneof(writes, reads);
export const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: anyCommand as fc.Arbitrary<Step> },
    {
      weight: 1,
      arbitrary: fc.record({ fails: fc.boolean(), commands: fc.array(anyCommand, { minLength: 1, maxLength: 5 }) }),
    },
  ),
  { minLength: 8, maxLength: 40, size: "max" },
);

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "object" || part === null || !("revision" in part)) return part;
    return Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1));
  });
}

async function answer(run: () => Promise<unknown>): Promise<string> {
  try {
    return canonical((await run()) ?? null);
  } catch (error) {
    const { name } = (error as object).constructor;
    const isRule = error instanceof UniqueViolation || error instanceof ReferenceViolation;
    if (!isRule && name !== "BadRow") throw error;
    return isRule ? `${name} in ${error.table}` : name;
  }
}

class Rollback extends Error {}

async function answers(store: Store<TestTables>, step: Step): Promise<string[]> {
  if (!("commands" in step)) return [await answer(() => step.run(store))];
  const given: string[] = [];
  const work = store.tx(async (tx) => {
    given.length = 0;
    for (const inner of step.commands) given.push(await answer(() => inner.run(tx)));
    if (step.fails) throw new Rollback();
  });
  await work.catch((error: unknown) => {
    if (!(error instanceof Rollback)) throw error;
  });
  return given;
}

const everyRow = async (store: Store<TestTables>): Promise<string> =>
  canonical([
    await store.teams.list(),
    await store.hosts.list(),
    await store.details.list(),
    await store.tags.list(),
    await store.locks.list(),
  ]);

/** Runs the steps on empty stores and throws at the first difference. */
export async function compare(
  stores: readonly [Store<TestTables>, Store<TestTables>],
  sequence: readonly Step[],
): Promise<void> {
  for (const store of stores)
    for (const name of ["locks", "tags", "details", "hosts", "teams"] as const) await store[name].delete(q.everything);
  const [one, other] = stores;
  for (const step of sequence) {
    const labels = "commands" in step ? step.commands.map(({ label }) => label) : [step.label];
    const [a, b] = [await answers(one, step), await answers(other, step)];
    for (const [i, label] of labels.entries())
      if (a[i] !== b[i]) throw new Error(`${label}\n  ${one.engine}: ${a[i]}\n  ${other.engine}: ${b[i]}`);
  }
  const [a, b] = [await everyRow(one), await everyRow(other)];
  if (a !== b) throw new Error(`the rows differ at the end\n  ${one.engine}: ${a}\n  ${other.engine}: ${b}`);
}
