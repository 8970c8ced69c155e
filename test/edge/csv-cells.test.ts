// Hostile texts in every endpoint and command that yields CSV: cells are quoted, and none is a formula.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allEndpoints } from "../../src/api/all.ts";
import type { AnyEndpoint } from "../../src/api/endpoint.ts";
import { writeList } from "../../src/cli/output/output.ts";
import { recordActivity } from "../../src/server/platform/activities/record.ts";
import { serviceContext } from "../../src/server/platform/core/context.ts";
import { recountSoftware } from "../../src/server/software/software/counts.ts";
import { recountVulnerabilities } from "../../src/server/software/software/vulnerabilities/recount.ts";
import { csvText } from "../../src/text/csv.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { parseCsv } from "../support/csv.ts";
import { bothEngines } from "../support/engines.ts";
import {
  makeHost,
  makeInventory,
  makeLabel,
  makePolicy,
  makeSoftware,
  makeTeam,
  makeUser,
  makeVulnerabilities,
} from "../support/make.ts";

/** Stores take no NUL: agents and requests cannot bring one in. */
const CELLS = [
  "=1+1",
  "+1",
  "-cmd|' /C calc'!A0",
  "@SUM(A1)",
  "\tx",
  "\r=1",
  "\n=1",
  "＝1",
  'a "quoted" name',
  "a,b",
  "line\r\n=break",
  "\u202e=gnp\u2066",
  `=${"x".repeat(2000)}"`,
];
/** For columns without a limit of their length. */
const LONG = `=${'"x,\r\n'.repeat(20_000)}`;

const isFormula = (cell: string): boolean => /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/.test(cell) && !isNumber(cell);
const isNumber = (cell: string): boolean => /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(cell);
const neutral = (text: string): string => (isFormula(text) ? `'${text}` : text);

const keyOf = ({ method, path }: AnyEndpoint): string => `${method} ${path}`;
const isCsv = ({ produces, query }: AnyEndpoint): boolean => {
  const format = query.shape?.format;
  return produces === "text/csv" || format?.safeParse("csv").success === true;
};

interface FilledServer {
  readonly team: number;
  readonly query: number;
}

/** The path with which each of them is called, and the end of its rows. */
const calls: Readonly<Record<string, { path: (ids: FilledServer) => string; end?: string; column: string }>> = {
  "GET /hosts/report": { path: () => "/hosts/report?format=csv", column: "hostname" },
  "GET /activities/export": { path: () => "/activities/export?format=csv", column: "details" },
  "GET /queries/:id/report/csv": { path: ({ query }) => `/queries/${query}/report/csv`, end: "\n", column: "=column" },
  "GET /software/titles/report": { path: () => "/software/titles/report", column: "name" },
  "GET /software/versions/report": { path: () => "/software/versions/report", column: "name" },
  "GET /vulnerabilities/report": { path: () => "/vulnerabilities/report", column: "cve_description" },
  "GET /global/policies/report": { path: () => "/global/policies/report", column: "name" },
  "GET /teams/:id/policies/report": { path: ({ team }) => `/teams/${team}/policies/report`, column: "name" },
  "GET /users/report": { path: () => "/users/report", column: "name" },
  "GET /labels/report": { path: () => "/labels/report", column: "name" },
  "GET /queries/report": { path: () => "/queries/report", column: "name" },
};

async function fill(t: TestApp): Promise<FilledServer> {
  const team = await makeTeam(t, CELLS[0]);
  const at = { created_at: t.clock.iso(), updated_at: t.clock.iso() };
  const asked = await t.store.queries.insert({ ...at, name: "asked", query: LONG, description: LONG, interval: 60 });
  for (const [n, text] of CELLS.entries()) {
    const host = await makeHost(t, { hostname: text, display_name: text });
    const version = await makeSoftware(t, text, text);
    await makeInventory(t, host.id, [version]);
    const known = { cve_description: text };
    await makeVulnerabilities(t, { software: version.id, cves: [`CVE-2026-${1000 + n}`], known });
    await makePolicy(t, { name: text, query: LONG, description: text, resolution: text });
    await makePolicy(t, { name: text, query: "SELECT 1", team_id: team.id });
    await makeLabel(t, text);
    await makeUser(t, "observer", { name: text, email: `u${n}@example.com` });
    await t.store.queries.insert({ ...at, name: text, query: text, description: text, interval: 60 });
    const rows = [{ "=column": text, "a,b": LONG }];
    const result = { query_id: asked.id, host_id: host.id, rows, row_count: rows.length, last_fetched: t.clock.iso() };
    await t.store.queryResults.insert(result);
    await recordActivity(serviceContext(t.services), "created_team", { team_id: team.id, team_name: text });
  }
  await recountSoftware(t.services, AbortSignal.timeout(60_000));
  await recountVulnerabilities(t.services, AbortSignal.timeout(60_000));
  return { team: team.id, query: asked.id };
}

it("is checked for every endpoint that yields CSV", () => {
  const found = allEndpoints.map(({ endpoint }) => endpoint).filter(isCsv);
  expect(found.map(keyOf).sort()).toEqual(Object.keys(calls).sort());
});

it("is written by one function, and by the library that its output equals", () => {
  const root = join(import.meta.dirname, "../../src");
  const writers = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && name !== join("text", "csv.ts"))
    .filter((name) => /"text\/csv[;"]|csv-stringify/.test(readFileSync(join(root, name), "utf8")));
  const others = writers.filter((name) => !/csvText|csv-stringify/.test(readFileSync(join(root, name), "utf8")));
  expect(
    others.filter((name) => !name.startsWith("api")),
    "write CSV with csvText",
  ).toEqual([]);
});

it("is the same from the command line", async () => {
  const same = (text: string) => text;
  const options = {
    format: "csv",
    header: true,
    bold: same,
    colour: (_: number, text: string) => text,
    width: null,
  } as const;
  const names = [...CELLS, LONG];
  let text = "";
  const write = async (part: string) => {
    text += part;
  };
  await writeList([names.map((name) => ({ name }))], { columns: [{ key: "name" }] }, options, write);
  expect(text).toBe(csvText([["name"], ...names.map((name) => [name])], "\n"));
});

describe.each(bothEngines)("cells of CSV on %s", (engine) => {
  it("are quoted, and none is a formula, whatever hosts and users are called", async () => {
    const t = await startApp({ engine });
    const ids = await fill(t);
    for (const [key, { path, end, column }] of Object.entries(calls)) {
      const reply = await t.get(path(ids));
      const text = await reply.text();
      expect(reply.status, `${key}: ${text.slice(0, 300)}`).toBe(200);
      expect(reply.headers.get("content-type"), key).toContain("text/csv");
      expect(reply.headers.get("x-content-type-options"), key).toBe("nosniff");
      const [names, ...rows] = parseCsv(text, end);
      expect(rows.length, key).toBeGreaterThanOrEqual(CELLS.length);
      for (const row of [names!, ...rows]) {
        expect(row.length, key).toBe(names!.length);
        for (const cell of row) expect(isFormula(cell), `${key}: ${cell.slice(0, 40)}`).toBe(false);
      }
      const at = names!.indexOf(neutral(column));
      expect(at, `${key}: ${names}`).toBeGreaterThanOrEqual(0);
      const values = rows.map((row) => row[at]!);
      if (key === "GET /activities/export") continue;
      for (const text of CELLS) expect(values, `${key}: ${text.slice(0, 40)}`).toContain(neutral(text));
    }
  });
});
