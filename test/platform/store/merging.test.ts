// Conditions on rows of the same other table are merged before they are evaluated in memory.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mergedAlternatives, mergedConditions } from "../../../src/server/platform/store/lowdb/queries/merging.ts";
import { and, eq, exists, gt, hasOf, not, or, type Predicate } from "../../../src/server/platform/store/query.ts";
import type { Store } from "../../../src/server/platform/store/store.ts";
import { engines, type OpenedStore } from "../../support/engines.ts";
import { details, hosts, type TestTables, tags, testTables } from "./tables.ts";

const tagged = (label: string): Predicate => exists(tags, "host_id", eq("label", label));

describe("merging conditions", () => {
  it("reads a table once for alternatives on it", () => {
    expect(mergedAlternatives([tagged("a"), eq("rank", 1), tagged("b")])).toEqual([
      exists(tags, "host_id", or(eq("label", "a"), eq("label", "b"))),
      eq("rank", 1),
    ]);
    expect(
      mergedAlternatives([hasOf("software", hosts, eq("rank", 1)), hasOf("software", hosts, eq("rank", 2))]),
    ).toEqual([hasOf("software", hosts, or(eq("rank", 1), eq("rank", 2)))]);
  });

  it("reads a table once for rows that must not exist in it", () => {
    expect(mergedConditions([not(tagged("a")), eq("rank", 1), not(tagged("b"))])).toEqual([
      eq("rank", 1),
      not(exists(tags, "host_id", or(eq("label", "a"), eq("label", "b")))),
    ]);
  });

  it("keeps conditions apart that different rows may satisfy, or that name other columns", () => {
    const both = [tagged("a"), tagged("b")];
    expect(mergedConditions(both)).toEqual(both);
    const others = [tagged("a"), exists(details, "id", gt("revision", 0)), exists(tags, "id", eq("label", "a"))];
    expect(mergedAlternatives(others)).toEqual(others);
  });
});

describe.each(engines)("merged conditions in $name", ({ open }) => {
  let opened: OpenedStore<TestTables>;
  let store: Store<TestTables>;
  const ids: number[] = [];
  beforeAll(async () => {
    opened = await open(testTables);
    store = opened.store;
    for (const labels of [["a"], ["b"], ["a", "b"], []]) {
      const host = await store.hosts.insert({ name: labels.join("") });
      ids.push(host.id);
      for (const label of labels) await store.tags.insert({ host_id: host.id, label });
    }
  });
  afterAll(() => opened.close());
  const places = async (where: Predicate) => (await store.hosts.list({ where })).map(({ id }) => ids.indexOf(id));

  it("match the rows that they match one by one", async () => {
    expect(await places(or(tagged("a"), tagged("b")))).toEqual([0, 1, 2]);
    expect(await places(and(tagged("a"), tagged("b")))).toEqual([2]);
    expect(await places(and(not(tagged("a")), not(tagged("b"))))).toEqual([3]);
    expect(await places(and(not(tagged("a")), tagged("b"), not(tagged("c"))))).toEqual([1]);
    expect(await places(not(or(tagged("a"), not(tagged("b")))))).toEqual([1]);
  });
});
