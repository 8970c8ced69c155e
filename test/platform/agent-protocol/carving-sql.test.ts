// SQL that can start file carves, in every disguise that SQLite accepts and in every place that accepts SQL.
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { isCarving } from "../../../src/server/platform/agent-protocol/carving-sql.ts";
import { type SqlToken, sqlTokens } from "../../../src/sql/tokens.ts";
import { type Caller, startApp, type TestApp } from "../../support/app.ts";
import { label, policy, refused as refusedApply, query as savedQuery } from "../../support/configuration.ts";
import { rulesEngines } from "../../support/engines.ts";
import { makeHost, makeTeam, makeUser } from "../../support/make.ts";

const shown = (sql: string) => [...sqlTokens(sql)].map(({ kind, text }: SqlToken) => `${kind}:${text}`);

describe("the words of SQL", () => {
  it.each([
    [
      'SELECT "a""b", `c``d`, [e"f], \'g\'\'h\'',
      ["name:SELECT", 'name:a"b', "symbol:,", "name:c`d", "symbol:,", 'name:e"f', "symbol:,", "string:g'h"],
    ],
    ["a--b\nc/*d'*/e/**/f/*/ g */h", ["name:a", "name:c", "name:e", "name:f", "name:h"]],
    ["x'6a' X'6A'axx'y'", ["string:x'6a'", "string:X'6A'", "name:axx", "string:y"]],
    [
      "1+2.5e3 ?1 :a @b $c",
      [
        "number:1",
        "symbol:+",
        "number:2",
        "symbol:.",
        "number:5e3",
        "variable:?1",
        "variable::a",
        "variable:@b",
        "variable:$c",
      ],
    ],
    ["a 'b", ["name:a", "open:'b"]],
    ["a/* b", ["name:a"]],
    ["a -- b", ["name:a"]],
    ["\ufeffSELECT é_1", ["name:SELECT", "name:é_1"]],
    ["", []],
  ])("of %j", (sql, words) => {
    expect(shown(sql)).toEqual(words);
  });

  const word = fc.oneof(
    fc.stringMatching(/^[a-z_][a-z0-9_$]{0,8}$/).map((text) => ({ sql: text, text })),
    fc.string().map((text) => ({ sql: `"${text.replaceAll('"', '""')}"`, text })),
    fc.string().map((text) => ({ sql: `\`${text.replaceAll("`", "``")}\``, text })),
    fc
      .string()
      .map((text) => text.replaceAll("]", ""))
      .map((text) => ({ sql: `[${text}]`, text })),
    fc.string().map((text) => ({ sql: `'${text.replaceAll("'", "''")}'`, text })),
  );
  const gap = fc.oneof(
    fc.constantFrom(" ", "\n", "\t\r\f "),
    fc.string().map((text) => ` --${text.replaceAll("\n", "")}\n`),
    fc.string().map((text) => ` /*${text.replaceAll("*/", "")} */ `),
  );

  it("are the same in the result, whatever is between them", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(word, gap)), (given) => {
        const sql = given.map(([{ sql: text }, between]) => text + between).join("");
        expect([...sqlTokens(sql)].map(({ text }) => text)).toEqual(given.map(([{ text }]) => text));
      }),
    );
  });

  it("cover any text, in order and completely", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("'", '"', "`", "[", "]", "/*", "*/", "--", "\n", "a", "x'", "$a", "1", "(")),
        (given) => {
          let last = 0;
          for (const { start, end } of sqlTokens(given.join(""))) {
            expect(start).toBeGreaterThanOrEqual(last);
            expect(end).toBeGreaterThan(start);
            last = end;
          }
          expect(last).toBeLessThanOrEqual(given.join("").length);
        },
      ),
    );
  });

  it("are found in linear time", () => {
    for (const text of ["/*", "'", "[", '"a', "--", "a ", "/* ", "x'"]) [...sqlTokens(text.repeat(200_000))];
  });
});

const carving = [
  "SELECT * FROM carves",
  "select * from CARVES where carve = 1 and path = '/etc/passwd'",
  "SELECT carve('/etc/passwd')",
  "SELECT carve (path) FROM file",
  `SELECT "carve"('/etc/passwd')`,
  "SELECT [carve]('/etc/passwd')",
  "SELECT `CaRvE`('/etc/passwd')",
  "SELECT carve/**/('/etc/passwd')",
  "SELECT carve -- no\n ('/etc/passwd')",
  `SELECT * FROM "carves"`,
  "SELECT * FROM 'carves'",
  "SELECT * FROM a, 'carves'",
  "SELECT * FROM ('carves')",
  "SELECT 1 WHERE 1 IN 'carves'",
  "SELECT * FROM main.[carves]",
  "SELECT * FROM main.'carves'",
  "SELECT '--' , carve('/etc/passwd')",
  "SELECT '/*', carve('/etc/passwd') /* ' */",
  "SELECT 1; SELECT carve('/x')",
  "WITH a AS (SELECT * FROM carves) SELECT 1 FROM a",
  "SELECT $a(/*), carve('/etc/passwd')",
  "SELECT \ufeffcarve('/etc/passwd')",
  "SELECT x'', carve('/x')",
  "SELECT 1 FROM carves WHERE '",
];
const harmless = [
  "SELECT 'carve(1)', 'carves of wood'",
  "SELECT 1 FROM osquery_registry WHERE name = 'carves'",
  "SELECT 1 FROM osquery_registry WHERE name IN ('carves')",
  "SELECT 1 -- carve('/etc/passwd')",
  "SELECT /* FROM carves */ 1",
  "SELECT carve FROM furniture",
  "SELECT carved(1), scarves FROM my_carves",
  "SELECT path FROM file WHERE path LIKE '/srv/carves/%'",
  "SELECT x'63617276657328'",
];

describe("SQL", () => {
  it.each(carving)("can start carves: %s", (sql) => expect(isCarving(sql)).toBe(true));
  it.each(harmless)("cannot: %s", (sql) => expect(isCarving(sql)).toBe(false));
});

const SQL = `SELECT "carve"/**/('/etc/passwd')`;

let named = 0;
const name = () => `name ${++named}`;

describe.each(rulesEngines)("in every place that accepts SQL, on %s", (engine) => {
  let t: TestApp;
  let teams: { id: number; name: string }[];
  beforeEach(async () => {
    t = await startApp({ engine });
    teams = [await makeTeam(t), await makeTeam(t)];
  });

  const reason = async (response: Response) => {
    const body = (await response.json()) as { errors?: { reason: string }[] };
    return [response.status, body.errors?.[0]?.reason ?? ""];
  };
  const refused = [403, expect.stringMatching(/can start file carves|^forbidden$/)];

  const kept = (teamId: number): Record<string, (who: Caller, query: string) => Promise<Response>> => ({
    "a query": (who, query) => who.post("/queries", { name: name(), query, team_id: teamId || undefined }),
    "query specs": (who, query) =>
      who.post("/spec/queries", { specs: [{ name: name(), query, ...(teamId ? { team: teams[0]!.name } : {}) }] }),
    "a policy": (who, query) =>
      who.post(teamId ? `/teams/${teamId}/policies` : "/global/policies", { name: name(), query }),
    "policy specs": (who, query) =>
      who.post("/spec/policies", { specs: [{ name: name(), query, ...(teamId ? { team: teams[0]!.name } : {}) }] }),
    "a label": (who, query) => who.post("/labels", { name: name(), query }),
    "label specs": (who, query) => who.post("/spec/labels", { specs: [{ name: name(), query }] }),
  });
  const counts = async () => [
    await t.store.queries.count(),
    await t.store.policies.count(),
    await t.store.labels.count({ op: "eq", column: "label_type", value: "regular" }),
  ];

  it.each(Object.keys(kept(0)))("%s: users who may not start carves cannot save such SQL", async (place) => {
    const gitops = [await makeUser(t, "gitops"), await makeUser(t, { teams: [{ id: teams[0]!.id, role: "gitops" }] })];
    for (const [i, who] of gitops.entries()) {
      const ask = kept(i === 0 ? 0 : teams[0]!.id)[place]!;
      expect(await reason(await ask(who, SQL)), `${i}`).toEqual(refused);
    }
    expect(await counts()).toEqual([0, 0, 0]);
    expect((await kept(0)[place]!(await makeUser(t, "gitops"), "SELECT 'carve(1)'")).status).toBe(200);
    expect((await kept(0)[place]!(await makeUser(t, "admin"), SQL)).status).toBe(200);
  });

  it("configuration as code: refused completely, and nothing is stored", async () => {
    const who = await makeUser(t, "gitops");
    for (const kind of ["query", "policy", "label"] as const) {
      const change = (name: string, query: string) => ({
        action: "create" as const,
        kind,
        owner: null,
        name,
        value: kind === "policy" ? policy({ query }) : kind === "label" ? label({ query }) : savedQuery({ query }),
      });
      const errors = await refusedApply(who, 403, { changes: [change("fine", "SELECT 1"), change("bad", SQL)] });
      expect(JSON.stringify(errors)).toContain(`the ${kind} \\"bad\\" can start file carves`);
      expect(await counts()).toEqual([0, 0, 0]);
    }
  });

  it("a technician: labels and live queries", async () => {
    const host = await makeHost(t, { team_id: teams[0]!.id }, { seen: t.clock.iso() });
    const all = [
      await makeUser(t, "technician"),
      await makeUser(t, { teams: [{ id: teams[0]!.id, role: "technician" }] }),
    ];
    for (const who of all) {
      for (const [path, body] of [
        ["/labels", { name: "l", query: SQL }],
        ["/spec/labels", { specs: [{ name: "l", query: SQL }] }],
        ["/queries/run", { query: SQL, selected: { hosts: [host.id] } }],
        [`/hosts/${host.id}/query`, { query: SQL }],
        [`/hosts/identifier/${host.uuid}/query`, { query: SQL }],
      ] as const)
        expect(await reason(await who.post(path, body)), path).toEqual(refused);
      expect((await who.post("/labels", { name: `of ${who.id}`, query: "SELECT 1" })).status).toBe(200);
    }
    // A saved query that everybody may run is run with the caller's own rights.
    const made = await t.post("/queries", { name: "saved", query: SQL, observer_can_run: true });
    const { query } = (await made.json()) as { query: { id: number } };
    for (const who of all)
      expect((await who.post("/queries/run", { query_id: query.id, selected: { hosts: [host.id] } })).status).toBe(403);
    expect(await t.store.campaigns.count()).toBe(0);
  });

  it("a pack can schedule such a query only for users who may start carves everywhere", async () => {
    const who = await makeUser(t, "gitops");
    const saved = (await (await t.post("/queries", { name: "saved", query: SQL })).json()) as { query: { id: number } };
    const pack = (await (await who.post("/packs", { name: "pack" })).json()) as { pack: { id: number } };
    const entry = { pack_id: pack.pack.id, query_id: saved.query.id, interval: 60, snapshot: true, removed: true };
    expect(await reason(await who.post("/packs/schedule", entry))).toEqual(refused);
    const spec = { specs: [{ name: "pack", queries: [{ query: "saved", interval: 60 }] }] };
    expect(await reason(await who.post("/spec/packs", spec))).toEqual(refused);
    expect(await t.store.scheduledQueries.count()).toBe(0);
    expect((await t.post("/packs/schedule", entry)).status).toBe(200);
  });

  it("the interval of a query that can carve cannot be changed by users who may not start carves", async () => {
    const who = await makeUser(t, "gitops");
    const saved = (await (await t.post("/queries", { name: "saved", query: SQL })).json()) as { query: { id: number } };
    expect(await reason(await who.patch(`/queries/${saved.query.id}`, { interval: 60 }))).toEqual(refused);
    expect((await who.delete(`/queries/id/${saved.query.id}`)).status).toBe(200);
  });
});
