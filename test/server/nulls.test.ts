// null in a body: equivalent to an omitted field if the field is optional and null is not one of its values; unchanged
// everywhere else.
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { allEndpoints } from "../../src/api/all.ts";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { type ErrorBody, nullsRefused } from "../../src/api/fields.ts";
import { fullPath } from "../../src/api/paths.ts";
import { withoutNulls } from "../../src/server/platform/core/http/nulls.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { makeHost } from "../support/make.ts";

const endpoints = allEndpoints
  .map(({ endpoint }) => endpoint)
  .filter(({ hasBody, takes }) => hasBody && (takes.kind === "json" || takes.kind === "form"));
const keyOf = ({ method, path }: AnyEndpoint) => `${method} ${path}`;

function inside(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  if ("innerType" in def) return inside(def.innerType as z.ZodType);
  return "in" in def ? inside(def.in as z.ZodType) : schema;
}

interface Field {
  readonly name: string;
  readonly schema: z.ZodType;
  /** A body that is complete except for this field, which has the value. */
  readonly put: (value: unknown) => unknown;
}

/** Every named field of a body, at every depth of objects and in lists. */
function* fieldsOf(given: z.ZodType, put: (value: unknown) => unknown, path: string[] = []): Generator<Field> {
  const schema = inside(given);
  if (schema instanceof z.ZodArray)
    yield* fieldsOf(schema.element as z.ZodType, (value) => put([value]), [...path, "0"]);
  if (!(schema instanceof z.ZodObject) || nullsRefused.has(schema)) return;
  for (const [key, field] of Object.entries(schema.shape as Record<string, z.ZodType>)) {
    const place = (value: unknown) => put({ [key]: value });
    yield { name: [...path, key].join("."), schema: field, put: place };
    yield* fieldsOf(field, place, [...path, key]);
  }
}

const mayBeMissing = ({ schema }: Field) => schema.safeParse(undefined).success;
const takesNull = ({ schema }: Field) => schema.safeParse(null).success;
const complaintsAbout = (body: z.ZodType, name: string, value: unknown) =>
  (body.safeParse(withoutNulls(body, value)).error?.issues ?? []).filter(
    (issue) => issue.path.join(".") === name && issue.code === "invalid_type",
  );

describe("null in a field of any body", () => {
  it("is treated as omitted where allowed, as an error where required, and as itself where it is a value", () => {
    const seen = { dropped: 0, refused: 0, kept: 0, deep: 0 };
    for (const { body, ...endpoint } of endpoints)
      for (const field of fieldsOf(body, (value) => value)) {
        const at = `${endpoint.method} ${endpoint.path} ${field.name}`;
        const given = field.put(null);
        const left = JSON.stringify(withoutNulls(body, given));
        if (takesNull(field)) {
          expect(left, at).toBe(JSON.stringify(given));
          seen.kept++;
        } else if (mayBeMissing(field)) {
          expect(left, at).toBe(JSON.stringify(field.put(undefined)));
          expect(complaintsAbout(body, field.name, given), at).toEqual([]);
          seen.dropped++;
          if (field.name.includes(".")) seen.deep++;
        } else {
          expect(left, at).toBe(JSON.stringify(given));
          seen.refused++;
        }
      }
    expect(seen.dropped).toBeGreaterThan(100);
    expect(seen.deep).toBeGreaterThan(20);
    expect(seen.refused).toBeGreaterThan(50);
    expect(seen.kept).toBeGreaterThan(50);
  });
});

describe("over the API", () => {
  const box: { t: TestApp } = { t: undefined as never };
  beforeAll(async () => {
    box.t = await startApp({ tier: "premium", shared: true });
    return () => box.t.close();
  });
  it("stays an error in the filters of bulk requests, which would otherwise select all hosts", async () => {
    const unset = [{ status: null }, { query: null }, { where: null }, { team_id: null }, { label_id: null }];
    const blank = [{ query: "" }, { query: "  " }, { query: "", team_id: null, label_id: null }];
    for (const filters of [...unset, ...blank])
      for (const [path, body] of [
        ["/hosts/delete", { filters }],
        ["/hosts/transfer/filter", { team_id: null, filters }],
      ] as const)
        expect((await box.t.post(path, body)).status, JSON.stringify(body)).toBe(422);
  });

  it("counts as left out beside a filter of a bulk request that is set", async () => {
    const { t } = box;
    const unset = { query: null, status: null, where: null, team_id: null, label_id: null };
    const form = new FormData();
    form.append("script", new Blob(["echo"]), "nulls.sh");
    const script = await t.post("/scripts", form);
    const { script_id } = (await script.json()) as { script_id: number };
    const reasonOf = async (res: Promise<Response>) => ((await (await res).json()) as ErrorBody).errors?.[0]?.reason;
    const batch = (filters: object) => t.post("/scripts/run/batch", { script_id, filters });
    for (const name of Object.keys(unset))
      expect(await reasonOf(batch({ [name]: null })), name).toContain("none of the filters is set");
    expect(await reasonOf(batch({ ...unset, query: "nothing matches" }))).toContain("no host");
    const host = await makeHost(t);
    for (const filters of [
      { ...unset, query: host.hostname },
      { ...unset, where: `hostname = ${host.hostname}` },
    ])
      expect((await t.post("/hosts/transfer/filter", { team_id: null, filters })).status).toBe(200);
    expect((await t.post("/hosts/delete", { filters: { ...unset, status: "online" } })).status).toBe(200);
  });

  const errorsOf = async (res: Response) =>
    res.status < 400 ? [] : (((await res.json()) as ErrorBody).errors ?? []).map(({ name, reason }) => [name, reason]);

  it("causes no error in an optional field of any endpoint", async () => {
    let tried = 0;
    for (const endpoint of endpoints) {
      const nulls = [...fieldsOf(endpoint.body, (value) => value)].filter(
        (field) => !field.name.includes(".") && mayBeMissing(field) && !takesNull(field),
      );
      if (nulls.length === 0) continue;
      const body = Object.fromEntries(nulls.map(({ name }) => [name, null]));
      const path = fullPath(endpoint).replaceAll(/:[a-z_]+/g, "987654");
      const res = await box.t.request(endpoint.method, path, body);
      expect(res.status, keyOf(endpoint)).toBeLessThan(500);
      for (const [name, reason] of await errorsOf(res))
        expect(reason, `${keyOf(endpoint)} ${name}`).not.toMatch(/got null/);
      tried++;
    }
    expect(tried).toBeGreaterThan(30);
  });

  it("does not make invalid input valid: required fields, entries of lists, unknown keys", async () => {
    const { t } = box;
    expect(await errorsOf(await t.post("/labels", { name: null, query: "SELECT 1" }))).toEqual([
      ["name", "invalid value type at 'name': expected string but got null"],
    ]);
    const selected = { hosts: null, labels: ["All Hosts", null] };
    expect(await errorsOf(await t.post("/queries/run_by_names", { query: "SELECT 1", selected }))).toEqual([
      ["selected.labels.1", "invalid value type at 'selected.labels.1': expected string but got null"],
    ]);
    const made = await t.post("/labels", { name: "with nulls", query: "SELECT 1", description: null, platform: null });
    expect(made.status).toBe(200);
    const { label } = (await made.json()) as { label: { id: number; name: string; description: string } };
    expect(label).toMatchObject({ name: "with nulls", description: "" });
  });

  it("is handled in lists, maps and alternatives, and kept as an entry of lists", () => {
    const Entry = z.object({ must: z.string(), may: z.string().optional(), none: z.string().nullish() });
    const Body = z.object({
      list: z.array(Entry).optional(),
      map: z.record(z.string(), Entry).optional(),
      either: z.union([z.object({ a: z.int(), b: z.int().optional() }), Entry]).optional(),
      texts: z.array(z.string()).optional(),
      free: z.record(z.string(), z.json()).optional(),
    });
    const entry = { must: "x", may: null, none: null };
    const left = { must: "x", none: null };
    expect(withoutNulls(Body, { list: [entry], map: { k: entry }, either: entry, other: null })).toEqual({
      list: [left],
      map: { k: left },
      either: left,
      other: null,
    });
    const same = { list: [null, { must: null }], map: { k: null }, texts: [null], free: { k: null } };
    expect(withoutNulls(Body, same)).toEqual(same);
    expect(withoutNulls(Body, { list: null, map: null, either: null, texts: null, free: null })).toEqual({});
  });
});
