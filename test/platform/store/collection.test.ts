// The contract of a store, for every engine.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  and,
  contains,
  eq,
  everything,
  exists,
  gt,
  gte,
  has,
  hasOf,
  isNull,
  lt,
  lte,
  not,
  oneOf,
  or,
  type Predicate,
  same,
  search,
  startsWith,
} from "../../../src/server/platform/store/query.ts";
import { BadRow } from "../../../src/server/platform/store/rows.ts";
import { side } from "../../../src/server/platform/store/sides.ts";
import { ReferenceViolation, type Store, UniqueViolation } from "../../../src/server/platform/store/store.ts";
import { engines, type OpenedStore } from "../../support/engines.ts";
import { details, hosts, type TestTables, tags, teams, testTables } from "./tables.ts";

const at = (day: number) => `2026-01-0${day}T00:00:00.000Z`;

describe.each(engines)("a store in $name", ({ open }) => {
  let opened: OpenedStore<TestTables>;
  let store: Store<TestTables>;
  beforeAll(async () => {
    opened = await open(testTables);
  });
  beforeEach(async () => {
    store = opened.store;
    for (const name of ["locks", "tags", "details", "hosts", "teams"] as const) await store[name].delete(everything);
  });
  afterAll(() => opened?.close());

  const names = async (select: Parameters<typeof store.hosts.list>[0]) =>
    (await store.hosts.list(select)).map(({ name }) => name);
  const some = () =>
    store.hosts.insertMany([
      { name: "a", rank: 2, seen_at: at(1), online: true },
      { name: "b", rank: null, seen_at: at(2) },
      { name: "c", rank: 1, seen_at: null, online: true },
      { name: "d", rank: 2, seen_at: at(3) },
    ]);

  describe("many rows", () => {
    it("are found in order whether the condition matches many, few or only the last", async () => {
      const made = await store.hosts.insertMany(
        Array.from({ length: 4500 }, (_, i) => ({
          name: `h${i}`,
          load: (i * 7919) % 4500,
          rank: i % 9 === 0 ? null : i,
        })),
      );
      // The first rows have none.
      await store.details.insertMany(made.slice(30).map(({ id }) => ({ id, software: id % 2 ? [1] : [2] })));
      const byLoad = (sign: number) => [...made].sort((a, b) => sign * (a.load - b.load) || sign * (a.id - b.id));
      const hasOne = new Set(made.slice(30).flatMap(({ id }) => (id % 2 ? [id] : [])));
      const lacks = new Set(made.slice(0, 30).map(({ id }) => id));
      const related = or(exists(details, "id", has("software", 1)), and(not(exists(details, "id")), gt("load", 2000)));
      const conditions = [
        ["all", everything, () => true],
        ["half", exists(details, "id", has("software", 1)), ({ id }) => hasOne.has(id)],
        ["the last", gt("load", 4480), ({ load }) => load > 4480],
        ["the first", lt("load", 20), ({ load }) => load < 20],
        ["some", gte("rank", 4400), ({ rank }) => rank !== null && rank >= 4400],
        ["related or lacking", related, ({ id, load }) => hasOne.has(id) || (lacks.has(id) && load > 2000)],
        ["neither", not(related), ({ id, load }) => !(hasOne.has(id) || (lacks.has(id) && load > 2000))],
        ["none", eq("name", "nobody"), () => false],
      ] as const satisfies readonly [
        string,
        Parameters<typeof store.hosts.count>[0],
        (row: (typeof made)[number]) => boolean,
      ][];
      for (const [what, where, picks] of conditions) {
        expect(await store.hosts.count(where), what).toBe(made.filter(picks).length);
        for (const direction of ["asc", "desc"] as const) {
          const sign = direction === "asc" ? 1 : -1;
          const wanted = byLoad(sign)
            .filter(picks)
            .map(({ name }) => name);
          const order = [{ column: "load", direction }];
          expect(await names({ where, order, limit: 25 }), `${what} ${direction}`).toEqual(wanted.slice(0, 25));
          expect(await names({ where, order, limit: 25, offset: 30 }), what).toEqual(wanted.slice(30, 55));
          // Rows without a related one are at the end, like null.
          const ofRelated = [...made].sort(
            (a, b) => sign * (Number(lacks.has(a.id)) - Number(lacks.has(b.id)) || a.id - b.id),
          );
          const related = [{ column: "revision", direction, of: details, on: "id" }];
          expect(await names({ where, order: related, limit: 25 }), `${what} ${direction}, related`).toEqual(
            ofRelated
              .filter(picks)
              .slice(0, 25)
              .map(({ name }) => name),
          );
        }
      }
    });
  });

  describe("rows", () => {
    it("have every column, defaults and a revision", async () => {
      const row = await store.hosts.insert({ name: "a" });
      expect(row).toEqual({
        id: row.id,
        team_id: null,
        name: "a",
        note: null,
        rank: null,
        load: 0,
        online: false,
        seen_at: null,
        facts: {},
        token: null,
        revision: 1,
      });
      expect(await store.hosts.get(row.id)).toEqual(row);
      expect(await store.hosts.get(row.id + 1)).toBeNull();
      // In the requested order, as often as requested.
      expect(await store.hosts.getMany([row.id + 1, row.id, row.id])).toEqual([row, row]);
    });

    it("keep values of every kind after a restart", async () => {
      const facts = { z: 1, a: [null, { deep: "\u{1F600}" }], text: "é" };
      const host = await store.hosts.insert({ name: "x", load: 0.1, facts, token: "secret", seen_at: at(1) });
      const users = Array.from({ length: 50 }, (_, i) => ({ uid: i, name: `user ${i}` }));
      await store.details.insert({ id: host.id, software: [9, 2, 2, 5], users });
      store = await opened.reopen();
      expect(await store.hosts.get(host.id)).toEqual(host);
      expect(Object.keys((await store.hosts.get(host.id))!.facts as object)).toEqual(["z", "a", "text"]);
      expect(await store.details.get(host.id)).toMatchObject({ software: [2, 5, 9], users });
      expect(await store.details.pick(["software"])).toEqual([{ software: [2, 5, 9] }]);
    });

    it("are independent of the caller's objects", async () => {
      const facts = { list: [1] };
      const { id } = await store.hosts.insert({ name: "x", facts });
      facts.list.push(2);
      expect((await store.hosts.get(id))!.facts).toEqual({ list: [1] });
    });

    it("refuse values of another kind than the column", async () => {
      const bad = [
        { name: 1 },
        { name: "a", rank: 1.5 },
        { name: "a", seen_at: "yesterday" },
        {},
        { name: "a", no: 1 },
      ];
      for (const row of bad) await expect(store.hosts.insert(row as never)).rejects.toThrow(BadRow);
      expect(await store.hosts.count()).toBe(0);
    });

    it("never get an id that was used before", async () => {
      const first = await store.hosts.insert({ name: "a" });
      await store.hosts.delete(eq("id", first.id));
      store = await opened.reopen();
      expect((await store.hosts.insert({ name: "b" })).id).toBeGreaterThan(first.id);
    });
  });

  describe("conditions", () => {
    beforeEach(some);

    it.each([
      ["eq", eq("rank", 2), "ad"],
      ["eq null", eq("rank", null), "b"],
      ["in", oneOf("rank", [1, 2]), "acd"],
      ["in nothing", oneOf("rank", []), ""],
      ["lt", lt("rank", 2), "c"],
      ["lte", lte("seen_at", at(2)), "ab"],
      ["gt", gt("seen_at", at(1)), "bd"],
      ["gte and lt", and(gte("seen_at", at(1)), lt("seen_at", at(3))), "ab"],
      ["null", isNull("seen_at"), "c"],
      ["not picks what eq does not, nulls too", not(eq("rank", 2)), "bc"],
      ["not of a range", not(gt("rank", 1)), "bc"],
      ["or", or(eq("name", "a"), isNull("rank")), "ab"],
      ["composite", and(eq("online", true), eq("rank", 2)), "a"],
      ["nothing", or(), ""],
    ])("%s", async (_, where, expected) => {
      expect((await names({ where })).join("")).toBe(expected);
      expect(await store.hosts.count(where)).toBe(expected.length);
    });

    it("search is literal and ignores letter case", async () => {
      await store.hosts.insertMany([
        { name: "100%_\\x", note: "ÄÖ" },
        { name: "100ab", note: "straße" },
      ]);
      for (const [text, found] of [
        ["%_\\", 1],
        ["100", 2],
        ["äö", 1],
        ["STRASSE", 0],
        ["nul\0", 0],
        ["", 6],
      ] as const)
        expect(await store.hosts.count(search(["name", "note"], text)), text).toBe(found);
    });

    it("search at the start of a column", async () => {
      await store.hosts.insertMany([
        { name: "Mac-%_1", note: "x" },
        { name: "a-mac-%_2", note: "MAC" },
        { name: "maß", note: null },
      ]);
      for (const [text, found] of [
        ["mac-%_", 1],
        ["MA", 3],
        ["mac", 2],
        ["-mac", 0],
        ["MASS", 0],
      ] as const)
        expect(await store.hosts.count(startsWith(["name", "note"], text)), text).toBe(found);
      expect(await store.hosts.count(startsWith(["name"], "mac"))).toBe(1);
    });

    it("exists checks another table", async () => {
      const [a, b, c] = await store.hosts.list();
      await store.tags.insertMany([
        { host_id: a!.id, label: "x" },
        { host_id: b!.id, label: "y" },
      ]);
      await store.details.insert({ id: c!.id, software: [7, 8] });
      expect(await names({ where: exists(tags, "host_id") })).toEqual(["a", "b"]);
      expect(await names({ where: exists(tags, "host_id", eq("label", "x")) })).toEqual(["a"]);
      expect(await names({ where: not(exists(tags, "host_id")) })).toEqual(["c", "d"]);
      expect(await names({ where: exists(details, "id", has("software", 1, 8)) })).toEqual(["c"]);
      expect(await store.tags.count(exists(hosts, "id", eq("name", "b"), "host_id"))).toBe(1);
    });

    it("hasOf looks for members among the rows of another table", async () => {
      const [a, b, c] = await store.hosts.list();
      await store.details.insertMany([
        { id: a!.id, software: [b!.id, 900] },
        { id: b!.id, software: [900] },
        { id: c!.id, software: [] },
      ]);
      const holding = (where: Predicate) => names({ where: exists(details, "id", hasOf("software", hosts, where)) });
      expect(await holding(eq("name", "b"))).toEqual(["a"]);
      expect(await holding(eq("name", "nobody"))).toEqual([]);
      expect(await names({ where: exists(details, "id", not(hasOf("software", hosts, eq("name", "b")))) })).toEqual([
        "b",
        "c",
      ]);
    });

    it("counts rows with some members and without others, starting with the rarer ones", async () => {
      const [a, b, c, d] = await store.hosts.list();
      await store.details.insertMany([
        { id: a!.id, software: [a!.id, b!.id] },
        { id: b!.id, software: [a!.id] },
        { id: c!.id, software: [b!.id, d!.id] },
      ]);
      const holds = (name: string) => exists(details, "id", hasOf("software", hosts, eq("name", name)));
      for (const [has, lacks, found] of [
        ["a", "b", ["b"]],
        ["b", "a", ["c"]],
        ["b", "d", ["a"]],
        ["a", "d", ["a", "b"]],
        ["a", "a", []],
        ["d", "c", ["c"]],
      ] as const)
        for (const where of [and(holds(has), not(holds(lacks))), and(not(holds(lacks)), holds(has))]) {
          expect(await names({ where })).toEqual(found);
          expect(await store.hosts.count(where), `${has} without ${lacks}`).toBe(found.length);
        }
    });

    it("counts by the rows of several other tables, each row once", async () => {
      const [a, b, c, d] = await store.hosts.list();
      await store.tags.insertMany(
        [a, a, b, c].map((host, i) => ({ host_id: host!.id, label: i === 1 ? "second" : "first" })),
      );
      await store.details.insertMany([b, d].map((host) => ({ id: host!.id, software: [host!.id] })));
      const first = exists(tags, "host_id", eq("label", "first"));
      const second = exists(tags, "host_id", eq("label", "second"));
      const detailed = exists(details, "id");
      for (const [where, found] of [
        [or(first, second), ["a", "b", "c"]],
        [or(first, detailed), ["a", "b", "c", "d"]],
        [and(first, second), ["a"]],
        [and(first, detailed), ["b"]],
        [and(first, not(second)), ["b", "c"]],
        [and(not(or(second, detailed)), first), ["c"]],
        [and(or(first, detailed), not(second), not(and(first, detailed))), ["c", "d"]],
        [and(not(first), not(second)), ["d"]],
        [or(first, not(detailed)), ["a", "b", "c"]],
        [and(or(first, second), eq("name", "a")), ["a"]],
      ] as const) {
        expect(await names({ where })).toEqual(found);
        expect(await store.hosts.count(where), JSON.stringify(where)).toBe(found.length);
      }
    });

    it("same ignores the letter case, also of values that were changed since the first question", async () => {
      const [row] = await store.hosts.insertMany([
        { name: "x", note: "4C4C-Ä" },
        { name: "y", note: "other" },
        { name: "z", note: null },
      ]);
      const found = async (...texts: string[]) =>
        (await store.hosts.list({ where: same("note", ...texts) })).map(({ name }) => name);
      expect(await found("4c4c-ä", "missing")).toEqual(["x"]);
      await store.hosts.updateEach([{ id: row!.id, note: "OTHER" }]);
      expect(await found("4c4c-ä")).toEqual([]);
      expect(await found("Other")).toEqual(["x", "y"]);
      await store.hosts.delete(eq("name", "y"));
      expect(await found("other", "OTHER")).toEqual(["x"]);
    });

    it("contains is literal, and ignores the letter case of A to Z", async () => {
      await store.teams.insertMany([{ name: "MacBook %_ Über" }, { name: "other", code: "X" }]);
      const found = async (text: string) =>
        (await store.teams.list({ where: contains("name", text) })).map(({ name }) => name);
      expect(await found("macb")).toEqual(["MacBook %_ Über"]);
      expect(await found("%_")).toEqual(["MacBook %_ Über"]);
      expect(await found("ÜBER")).toEqual(["MacBook %_ Über"]);
      expect(await found("über")).toEqual([]);
      expect(await store.teams.count(contains("code", ""))).toBe(1);
      expect(await store.teams.count(not(contains("code", "y")))).toBe(2);
    });
  });

  describe("order", () => {
    beforeEach(some);

    it("puts nulls last ascending and first descending, ties by id in the direction of the last term", async () => {
      expect((await names({ order: [{ column: "rank", direction: "asc" }] })).join("")).toBe("cadb");
      expect((await names({ order: [{ column: "rank", direction: "desc" }] })).join("")).toBe("bdac");
      const mixed = [
        { column: "online", direction: "desc" },
        { column: "rank", direction: "asc" },
      ] as const;
      expect((await names({ order: mixed })).join("")).toBe("cadb");
      expect((await names({})).join("")).toBe("abcd");
    });

    it("continues after a position, in every order", async () => {
      const orders = [
        [],
        [{ column: "rank", direction: "asc" }],
        [{ column: "rank", direction: "desc" }],
        [{ column: "id", direction: "desc" }],
        [
          { column: "seen_at", direction: "desc" },
          { column: "name", direction: "asc" },
        ],
        [{ column: "name", direction: "asc", of: teams, on: "team_id" }],
      ] as const;
      const [team] = await store.teams.insertMany([{ name: "t" }]);
      await store.hosts.update({ where: oneOf("name", ["b", "d"]), set: { team_id: team!.id } });
      for (const order of orders) {
        const all = await store.hosts.list({ order });
        for (let i = 0; i < all.length; i++) {
          const after = await store.hosts.positionOf(all[i]!, order);
          expect(await store.hosts.list({ order, after })).toEqual(all.slice(i + 1));
          expect(await store.hosts.list({ order, after, limit: 1 })).toEqual(all.slice(i + 1, i + 2));
        }
        expect(await store.hosts.list({ order, limit: 2, offset: 1 })).toEqual(all.slice(1, 3));
      }
    });

    it("sorts text by code point", async () => {
      await store.hosts.delete(everything);
      await store.hosts.insertMany(["\u{1F600}", "\uFF00", "z", "Z", "é"].map((name) => ({ name })));
      const sorted = ["Z", "z", "é", "\uFF00", "\u{1F600}"];
      expect(await names({ order: [{ column: "name", direction: "asc" }] })).toEqual(sorted);
      expect(await names({ order: [{ column: "name", direction: "asc" }], where: gt("name", "z") })).toEqual(
        sorted.slice(2),
      );
    });

    it("returns every row once on its pages", async () => {
      for (const order of [[], [{ column: "rank", direction: "desc" }]] as const) {
        const seen: string[][] = [];
        for await (const page of store.hosts.pages({ order }, 3)) seen.push(page.map(({ name }) => name));
        expect(seen.map((page) => page.length)).toEqual([3, 1]);
        expect(seen.flat().sort()).toEqual(["a", "b", "c", "d"]);
      }
    });

    it("returns the secrets of the last row of a full page", async () => {
      await store.hosts.update({ where: everything, set: { token: "s3cret" } });
      const tokens: unknown[] = [];
      for await (const page of store.hosts.pages({}, 2)) tokens.push(...page.map(({ token }) => token));
      expect(tokens).toEqual(["s3cret", "s3cret", "s3cret", "s3cret"]);
      for await (const page of store.hosts.batches(["token"], {}, {}, 2))
        for (const place of page.ids.keys()) expect(page.row(place)).toMatchObject({ token: "s3cret" });
    });

    it("pages through chosen columns, with the id and what the order reads", async () => {
      const rows: object[] = [];
      const order = [{ column: "rank", direction: "asc" }] as const;
      for await (const page of store.hosts.pages({ order }, 3, ["name"])) rows.push(...page);
      expect(rows.map((row) => Object.keys(row).sort())).toEqual(rows.map(() => ["id", "name", "rank"]));
      expect(rows).toMatchObject([{ name: "c", rank: 1 }, { name: "a" }, { name: "d" }, { name: "b", rank: null }]);
    });

    it("reads side tables for many ids, in their order, null where there is no row", async () => {
      const made = await store.hosts.list();
      const [a, , c] = made.map(({ id }) => id);
      await store.details.insert({ id: c!, software: [3, 1], users: { who: '"x", \\y' } });
      const sides = { list: side(details, "software"), rest: side(details, "users", "revision"), not: undefined };
      expect(await store.hosts.sides([c!, a!, 999_999, c!], sides)).toEqual([
        { list: { software: [1, 3] }, rest: { users: { who: '"x", \\y' }, revision: 1 } },
        { list: null, rest: null },
        { list: null, rest: null },
        { list: { software: [1, 3] }, rest: { users: { who: '"x", \\y' }, revision: 1 } },
      ]);
      expect(await store.hosts.sides([a!], {})).toEqual([{}]);
      expect(await store.hosts.sides([], sides)).toEqual([]);
      await expect((async () => store.hosts.sides([1], { tags: side(tags, "label") }))()).rejects.toThrow("t_tags");
    });

    it("returns batches of rows with their sides, each made when it is requested", async () => {
      const made = await store.hosts.list();
      const [a, , c] = made.map(({ id }) => id);
      await store.details.insert({ id: c!, software: [3, 1], users: { who: '"x", \\y' } });
      const order = [{ column: "rank", direction: "desc" }] as const;
      const ids: number[] = [];
      const sizes: number[] = [];
      for await (const batch of store.hosts.batches(["name"], { list: side(details, "software") }, { order }, 3)) {
        sizes.push(batch.ids.length);
        for (const [place, id] of batch.ids.entries()) {
          ids.push(id);
          expect(batch.row(place)).toMatchObject({ id, name: made.find((row) => row.id === id)!.name });
          expect(batch.sides(place)).toEqual({ list: id === c ? { software: [1, 3] } : null });
        }
      }
      expect(sizes).toEqual([3, 1]);
      expect(ids).toEqual((await store.hosts.list({ order })).map(({ id }) => id));
      const where = eq("id", a!);
      for await (const batch of store.hosts.batches(["name", "rank"], {}, { where, limit: 1 }, 1)) {
        expect(batch.ids).toEqual([a]);
        expect(batch.sides(0)).toEqual({});
      }
      for await (const _ of store.hosts.batches(["name"], {}, { where: eq("name", "none") })) expect.unreachable();
    });

    it("reads wide rows that are used at once as it reads others", async () => {
      const texts = [
        "",
        " ",
        '"',
        '""',
        "\\",
        '\\"',
        ",",
        "(a,b)",
        "NULL",
        "\n",
        "é",
        "\u{1F600}",
        "{1}",
        "x".repeat(5000),
      ];
      await store.hosts.delete(everything);
      await store.hosts.insertMany(
        texts.flatMap((name, i) =>
          texts.map((note, j) => ({
            name: `${name}${i} ${j}`,
            note: j % 5 === 0 ? null : note,
            token: j % 3 === 0 ? null : name,
            rank: i % 2 === 0 ? null : i * -7,
            load: [0, 0.1, -1.5, 1e300, 5e-324][j % 5]!,
            online: i % 3 === 0,
            seen_at: j % 4 === 0 ? null : "0000-01-01T00:00:00.100Z",
          })),
        ),
      );
      const wide = ["id", "team_id", "name", "note", "rank", "load", "online", "seen_at", "token", "revision"] as const;
      const plain = await store.hosts.pick(wide);
      expect(plain).toHaveLength(texts.length ** 2);
      expect(plain.slice(1, 2)).toMatchObject([{ name: "0 1", note: " ", seen_at: "0000-01-01T00:00:00.100Z" }]);
      expect(await store.hosts.pick(wide, { transient: true })).toEqual(plain);
      const order = [{ column: "name", direction: "desc" }] as const;
      expect(await store.hosts.pick(wide, { transient: true, order, limit: 60, offset: 3 })).toEqual(
        await store.hosts.pick(wide, { order, limit: 60, offset: 3 }),
      );
      expect(await store.hosts.pick(wide, { few: true, order, limit: 60, offset: 3 })).toEqual(
        await store.hosts.pick(wide, { order, limit: 60, offset: 3 }),
      );
      const paged: object[] = [];
      for await (const page of store.hosts.pages({}, 50, wide)) paged.push(...page);
      expect(paged).toEqual(plain);
    });

    it("counts by value, most frequent first, and finds the greatest", async () => {
      expect(await store.hosts.groupCount("rank")).toEqual([
        { value: 2, count: 2 },
        { value: 1, count: 1 },
        { value: null, count: 1 },
      ]);
      const [a, b] = await store.hosts.list();
      await store.details.insertMany([
        { id: a!.id, software: [3, 4] },
        { id: b!.id, software: [4] },
      ]);
      expect(await store.details.groupCount("software")).toEqual([
        { value: 4, count: 2 },
        { value: 3, count: 1 },
      ]);
      expect(await store.hosts.max("seen_at")).toBe(at(3));
      expect(await store.hosts.max("rank", eq("name", "b"))).toBeNull();
    });
  });

  describe("writes", () => {
    it("update the rows of the predicate and increase the revision, changed or not", async () => {
      await some();
      expect(await store.hosts.update({ where: eq("rank", 2), set: { rank: 2 } })).toBe(2);
      expect((await store.hosts.list()).map(({ revision }) => revision)).toEqual([2, 1, 1, 2]);
      const [a, , c] = await store.hosts.list();
      const changes = [
        { id: a!.id, rank: 7 },
        { id: c!.id, rank: null },
        { id: c!.id + 99, rank: 1 },
      ];
      expect(await store.hosts.updateEach(changes)).toBe(2);
      expect((await store.hosts.list()).map(({ rank }) => rank)).toEqual([7, null, null, 2]);
    });

    it("upsert by a unique set, in which null is a value like others, and skip unchanged rows", async () => {
      const on = ["team_id", "name"] as const;
      const [first] = await store.hosts.upsert([{ team_id: null, name: "a", rank: 1 }], { on });
      const again = await store.hosts.upsert([{ team_id: null, name: "a", rank: 1 }], { on });
      expect(again).toEqual([first]);
      const [last, other, same] = await store.hosts.upsert(
        [
          { team_id: null, name: "a", rank: 2 },
          { team_id: null, name: "b", rank: 3 },
          { team_id: null, name: "a", rank: 4 },
        ],
        { on },
      );
      expect(last).toMatchObject({ id: first!.id, rank: 4, revision: 2 });
      expect(same).toEqual(last);
      expect(other).toMatchObject({ name: "b", revision: 1 });
      const [kept] = await store.hosts.upsert([{ team_id: null, name: "a", rank: 9, load: 5 }], { on, set: ["load"] });
      expect(kept).toMatchObject({ rank: 4, load: 5, revision: 3 });
    });

    it("upsert returns the requested columns, or none, of inserted, changed and unchanged rows", async () => {
      await store.hosts.insertMany([
        { name: "a", rank: 1 },
        { name: "b", rank: 2 },
      ]);
      const rows = [
        { name: "c", rank: 3 },
        { name: "a", rank: 9 },
        { name: "b", rank: 2 },
      ];
      const on = ["team_id", "name"] as const;
      const some = await store.hosts.upsert(rows, { on, returning: ["rank", "name"] });
      expect(some).toEqual([
        { rank: 3, name: "c" },
        { rank: 9, name: "a" },
        { rank: 2, name: "b" },
      ]);
      expect(await store.hosts.upsert([{ name: "d" }, { name: "a", rank: 4 }], { on, returning: [] })).toEqual([
        {},
        {},
      ]);
      expect(await names({})).toEqual(["a", "b", "c", "d"]);
      expect((await store.hosts.first({ where: eq("name", "a") }))!.rank).toBe(4);
      await expect(store.hosts.upsert(rows, { on, returning: ["colour" as "name"] })).rejects.toThrow("colour");
    });

    it("insert many rows and return only some columns, or none", async () => {
      const rows = [{ name: "a", rank: 1 }, { name: "b" }];
      const made = await store.hosts.insertMany(rows, { returning: ["name", "rank"] });
      expect(made).toEqual([
        { name: "a", rank: 1 },
        { name: "b", rank: null },
      ]);
      expect(await store.hosts.insertMany([{ name: "c" }, { name: "d" }], { returning: [] })).toEqual([{}, {}]);
      expect(await names({})).toEqual(["a", "b", "c", "d"]);
      await expect(store.hosts.insertMany([{ name: "e" }], { returning: ["colour" as "name"] })).rejects.toThrow(
        "colour",
      );
      expect(await names({})).toEqual(["a", "b", "c", "d"]);
    });

    it("upsert by a shared id, with packed and id-set columns", async () => {
      const host = await store.hosts.insert({ name: "a" });
      const row = { id: host.id, software: [1, 2], users: [{ name: "u".repeat(500) }] };
      const [first] = await store.details.upsert([row], { on: ["id"] });
      expect((await store.details.upsert([row], { on: ["id"] }))[0]).toEqual(first);
      expect((await store.details.upsert([{ ...row, software: [2] }], { on: ["id"] }))[0]).toMatchObject({
        revision: 2,
      });
    });

    it("refuse a second row with the values of a unique set, and store nothing of the call", async () => {
      await store.hosts.insert({ name: "a" });
      await expect(store.hosts.insertMany([{ name: "b" }, { name: "a" }])).rejects.toThrow(UniqueViolation);
      expect(await names({})).toEqual(["a"]);
      await store.teams.insertMany([{ name: "x" }, { name: "y" }]);
      await expect(store.teams.update({ where: everything, set: { code: "same" } })).rejects.toMatchObject({
        table: "t_teams",
        columns: ["code"],
      });
      expect((await store.teams.list()).map(({ code, revision }) => [code, revision])).toEqual([
        [null, 1],
        [null, 1],
      ]);
    });

    it("refuse a reference to a missing row", async () => {
      await expect(store.hosts.insert({ name: "a", team_id: 999_999 })).rejects.toThrow(ReferenceViolation);
      await expect(store.details.insert({ id: 999_999, software: [] })).rejects.toThrow(ReferenceViolation);
      await store.hosts.insert({ name: "a" });
      await expect(store.hosts.update({ where: everything, set: { team_id: 999_999 } })).rejects.toThrow(
        ReferenceViolation,
      );
      expect(await store.hosts.count(isNull("team_id"))).toBe(1);
    });

    it("delete, set to null, or refuse for references to a deleted row, as declared", async () => {
      const team = await store.teams.insert({ name: "t" });
      const host = await store.hosts.insert({ name: "a", team_id: team.id });
      await store.details.insert({ id: host.id, software: [] });
      await store.tags.insert({ host_id: host.id, label: "x" });
      const lock = await store.locks.insert({ host_id: host.id, reason: "r" });

      expect(await store.teams.delete(everything)).toBe(1);
      expect(await store.hosts.get(host.id)).toMatchObject({ team_id: null, revision: 2 });
      await expect(store.hosts.delete(everything)).rejects.toThrow(ReferenceViolation);
      expect([await store.hosts.count(), await store.tags.count(), await store.details.count()]).toEqual([1, 1, 1]);
      await store.locks.delete(eq("id", lock.id));
      expect(await store.hosts.delete(eq("name", "a"))).toBe(1);
      expect([await store.hosts.count(), await store.tags.count(), await store.details.count()]).toEqual([0, 0, 0]);
    });
  });

  describe("transactions", () => {
    it("store all or nothing, while a write beside a failing one survives", async () => {
      const failing = store.tx(async (tx) => {
        await tx.hosts.insert({ name: "a" });
        await tx.teams.insert({ name: "t" });
        throw new Error("no");
      });
      const beside = store.hosts.insert({ name: "beside" });
      await expect(failing).rejects.toThrow("no");
      await beside;
      expect(await names({})).toEqual(["beside"]);
      expect(await store.teams.count()).toBe(0);
    });

    it("see their own rows, which others do not see before the commit", async () => {
      await store
        .tx(async (tx) => {
          await tx.hosts.insert({ name: "a" });
          expect(await tx.hosts.count()).toBe(1);
          await tx.tx(async (inner) => void (await inner.hosts.insert({ name: "b" })));
          expect(await tx.hosts.count()).toBe(2);
          throw new Error("back");
        })
        .catch(() => {});
      expect(await store.hosts.count()).toBe(0);
    });

    it("continue after a single failed write", async () => {
      await store.tx(async (tx) => {
        await tx.hosts.insert({ name: "a" });
        await expect(tx.hosts.insertMany([{ name: "b" }, { name: "a" }])).rejects.toThrow(UniqueViolation);
        await tx.hosts.insert({ name: "c" });
      });
      expect(await names({})).toEqual(["a", "c"]);
    });

    it("as a snapshot see the state of one moment", async () => {
      await store.hosts.insert({ name: "a" });
      let seen = () => {};
      const first = new Promise<void>((resolve) => {
        seen = resolve;
      });
      const beside = first.then(() => store.hosts.insert({ name: "b" }));
      const counts = await store.tx(
        async (tx) => {
          const before = await tx.hosts.count();
          seen();
          // On Postgres the other write continues in the meantime; in memory it waits.
          if (store.engine === "postgres") await beside;
          return [before, await tx.hosts.count()];
        },
        { snapshot: true },
      );
      expect(counts).toEqual([1, 1]);
      await beside;
      expect(await store.hosts.count()).toBe(2);
    });

    it("with the same lock run one after the other", async () => {
      const { id } = await store.hosts.insert({ name: "a", rank: 0 });
      const raise = () =>
        store.tx(
          async (tx) => {
            const row = await tx.hosts.get(id);
            await tx.hosts.update({ where: eq("id", id), set: { rank: row!.rank! + 1 } });
          },
          { lock: "users" },
        );
      await Promise.all(Array.from({ length: 8 }, raise));
      expect(await store.hosts.get(id)).toMatchObject({ rank: 8, revision: 9 });
    });

    it("that fail fast end with their first failed write, even if the caller catches its error", async () => {
      await store.teams.insert({ name: "known" });
      const work = async (tx: Pick<typeof store, "hosts" | "teams">) => {
        await tx.hosts.insert({ name: "a" });
        await tx.teams.insert({ name: "known" }).catch(() => undefined);
        await tx.hosts.insert({ name: "b" }).catch(() => undefined);
        await tx.hosts.count().catch(() => undefined);
      };
      await expect(store.tx(work, { failFast: true })).rejects.toThrow(UniqueViolation);
      expect(await store.hosts.count()).toBe(0);
      await store.tx(work);
      expect(await store.hosts.count()).toBe(2);
      await store.tx((tx) => tx.hosts.insert({ name: "c" }).then(() => tx.notify("news", "c")), { failFast: true });
      expect(await store.hosts.count()).toBe(3);
    });

    it("send their messages after the commit, and none if they fail", async () => {
      const got: string[] = [];
      let arrived!: () => void;
      const done = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const stop = await store.listen("news", (payload) => {
        got.push(payload);
        if (payload === "last") arrived();
      });
      await store
        .tx(async (tx) => {
          await tx.notify("news", "lost");
          throw new Error("no");
        })
        .catch(() => {});
      await store.tx((tx) => tx.notify("news", "kept"));
      // The server that made a change also gets the message, without a delay.
      expect(got).toEqual(["kept"]);
      await store.notify("news", "last");
      await done;
      expect(got).toEqual(["kept", "last"]);
      await stop();
      await expect(store.notify("news", "x".repeat(7_001))).rejects.toThrow();
    });
  });

  it("leads until it is stopped", async () => {
    let lost = false;
    let elected!: () => void;
    const isElected = new Promise<void>((resolve) => {
      elected = resolve;
    });
    const stop = await store.lead("job", async (signal) => {
      elected();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      lost = true;
    });
    await isElected;
    await stop();
    expect(lost).toBe(true);
    await store.check();
  });
});
