import { beforeEach, describe, expect, test } from "vitest";
import {
  inScope,
  type LabelScope,
  labelNames,
  labelsOfHost,
  resolveLabelNames,
  scopePredicate,
} from "../../src/server/hosts/labels/scope.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import type { ApiError } from "../../src/server/platform/core/errors.ts";
import { eq } from "../../src/server/platform/store/query.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { rulesEngines } from "../support/engines.ts";
import { makeHost, makeLabel } from "../support/make.ts";

describe.each(rulesEngines)("limits by labels, on %s", (engine) => {
  let t: TestApp;
  beforeEach(async () => {
    t = await startApp({ engine });
  });
  const ctx = () => serviceContext(t.services);

  test("names become labels in their order, each once, in any Unicode form", async () => {
    const a = await makeLabel(t, "Café");
    const b = await makeLabel(t, "B");
    expect(await resolveLabelNames(ctx(), ["B", " Cafe\u0301 ", "B"], "policy")).toEqual([
      { id: b.id, name: "B" },
      { id: a.id, name: "Café" },
    ]);
    expect(await resolveLabelNames(ctx(), [], "policy")).toEqual([]);
  });

  test("unknown names are a 400 that lists all of them, and only them", async () => {
    await makeLabel(t, "known");
    const names = ["known", "nope", "", "b\u0000d", "K".repeat(300)];
    const error = (await resolveLabelNames(ctx(), names, "query", "labels_include_any").catch(
      (thrown) => thrown,
    )) as ApiError;
    expect(error).toMatchObject({ status: 400, message: "Bad request" });
    expect(error.errors[0]!.name).toBe("labels_include_any");
    expect(error.errors[0]!.reason).toMatch(/^query payload verification: unknown labels: "nope", "", /);
    expect(error.errors[0]!.reason).not.toContain("known,");
    const many = await resolveLabelNames(ctx(), [...Array(500).keys()].map(String), "policy").catch((thrown) => thrown);
    expect((many as ApiError).errors[0]!.reason.length).toBeLessThan(300);
  });

  test("ids become names; those of deleted labels are omitted", async () => {
    const a = await makeLabel(t, "a");
    expect(await labelNames(t.store, [a.id, a.id, 999_999])).toEqual(new Map([[a.id, { id: a.id, name: "a" }]]));
    expect(await labelNames(t.store, [])).toEqual(new Map());
  });

  test("the rule and the store's predicate select the same hosts, for any scope", async () => {
    const hosts: number[] = [];
    for (let n = 0; n < 8; n++) hosts.push((await makeHost(t)).id);
    // Each host is in the labels whose bits its number has.
    const labels: number[] = [];
    for (const bit of [1, 2, 4])
      labels.push(
        (
          await makeLabel(
            t,
            `bit ${bit}`,
            hosts.filter((_, n) => (n & bit) !== 0),
          )
        ).id,
      );
    const [a, b, c] = labels as [number, number, number];
    const picked = async (scope: LabelScope) => {
      const rows = await t.store.hosts.pick(["id"], {
        where: scopePredicate(scope),
        order: [{ column: "id", direction: "asc" }],
      });
      const byRule: number[] = [];
      for (const id of hosts) if (inScope(await labelsOfHost(t.store, id), scope)) byRule.push(id);
      expect(rows.map(({ id }) => id)).toEqual(byRule);
      return byRule.map((id) => hosts.indexOf(id));
    };
    expect(await picked({})).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await picked({ include_any: [], exclude_any: [] })).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await picked({ include_any: [a] })).toEqual([1, 3, 5, 7]);
    expect(await picked({ include_any: [a, b] })).toEqual([1, 2, 3, 5, 6, 7]);
    expect(await picked({ exclude_any: [a, b] })).toEqual([0, 4]);
    expect(await picked({ include_all: [a, b] })).toEqual([3, 7]);
    expect(await picked({ include_any: [a, b], exclude_any: [c] })).toEqual([1, 2, 3]);
    expect(await picked({ include_any: [999_999] })).toEqual([]);
    expect(await picked({ exclude_any: [999_999] })).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  test("a label cannot be deleted while rows refer to it, even if no code has checked before", async () => {
    const label = await makeLabel(t, "in use");
    const now = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
    const query = await t.store.queries.insert({ ...now, name: "Q", query: "SELECT 1" });
    await t.store.queryLabels.insert({ query_id: query.id, label_id: label.id });
    await expect(t.store.labels.delete(eq("id", label.id))).rejects.toThrow();
    expect(await t.store.queryLabels.count()).toBe(1);
    await t.store.queries.delete(eq("id", query.id));
    expect(await t.store.queryLabels.count()).toBe(0);
    await t.store.labels.delete(eq("id", label.id));
  });
});
