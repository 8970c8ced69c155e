// Software results that are kept as text: the effect of a write must be the same as if all of it had been parsed.
import { describe, expect, it } from "vitest";
import { parseWrite } from "../../../src/server/edge/agent/ingest/parse-write.ts";
import { readResults } from "../../../src/server/edge/agent/ingest/results.ts";
import { parseSparing, UnreadRows } from "../../../src/server/edge/agent/ingest/unread-rows.ts";
import { softwareChanges, softwareFingerprint } from "../../../src/server/software/software/inventory.ts";
import { SoftwareRows } from "../../../src/server/software/software/reported-rows/cached.ts";
import { Dice } from "../../support/request-fuzz.ts";
import { detailQueries } from "./inventory/fixture.ts";

const DEB = "svc_detail_query_software_deb";
const dice = new Dice(77);

const odd = () =>
  dice.pick(["}],", "}]}", 'a"}],"b', "\\", "[{", `"${DEB}":[{`, "é漢\u0000", "x".repeat(dice.int(60)), "]", "}"]);
/** Some rounds have no unusual values, some few, some many. */
let oddness = 0;
const cell = () => (dice.chance(oddness) ? odd() : dice.pick(["plain", "", "/usr/share/a b", "1.2.3-4ubuntu5"]));
const rowsOf = (count: number) =>
  Array.from({ length: count }, () => ({ name: cell(), version: cell(), source: cell(), arch: cell() }));
const bodyOf = (rows: unknown, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    node_key: "k",
    queries: { svc_detail_query_os_version: [{ name: cell() }], [DEB]: rows, svc_detail_query_uptime: [], ...more },
    statuses: { [DEB]: 0, svc_detail_query_uptime: 0 },
    messages: { [DEB]: cell() },
  });
/** Everything parsed, without the optimization. */
const plainly = (body: string) => readResults(JSON.parse(body) as Record<string, unknown>, detailQueries);

describe("a write with much software", () => {
  it("has the same effect as when everything is parsed, whatever its cells contain", async () => {
    let spared = 0;
    for (let round = 0; round < 400; round++) {
      oddness = dice.pick([0, 0.002, 0.02, 0.5]);
      const many = { svc_detail_query_software_python: rowsOf(dice.int(120)) };
      const body = bodyOf(rowsOf(dice.int(120)), dice.chance(0.5) ? many : {});
      const parts = await parseWrite(body, detailQueries);
      if (Object.values(parts.queries as object).some((value) => value instanceof UnreadRows)) spared++;
      const results = readResults(parts, detailQueries);
      const expected = plainly(body);
      expect([...results.details.keys()]).toEqual([...expected.details.keys()]);
      for (const [key, { ok, rows }] of expected.details)
        expect({ key, ok: results.details.get(key)!.ok, rows: results.details.get(key)!.rows }).toEqual({
          key,
          ok,
          rows,
        });
    }
    expect(spared).toBeGreaterThan(20);
  });

  it("has the same software as when everything is parsed, with rows known from other hosts", async () => {
    const rows = new SoftwareRows();
    let told = 0;
    for (let round = 0; round < 400; round++) {
      oddness = dice.pick([0, 0.002, 0.02, 0.5]);
      const common = Array.from({ length: dice.int(120) }, (_, i) => ({
        name: `Common-${i}`,
        version: "1",
        path: "/a",
      })).filter(() => !dice.chance(0.1));
      const opened = () => dice.pick(["-1", "", "1762300800.25", cell(), 5]);
      const apps = common.map((row) => ({ ...row, bundle_version: cell(), last_opened_time: opened(), path: cell() }));
      const python = [
        ...common,
        ...common.slice(0, 9).map((row) => ({ ...row, path: cell() })),
        ...rowsOf(dice.int(9)),
      ];
      const body = bodyOf([...common, ...rowsOf(dice.int(60))], {
        svc_detail_query_software_python: python,
        svc_detail_query_software_apps: apps,
      });
      const { details } = readResults(await parseWrite(body, detailQueries), detailQueries);
      if (details.get("software_deb")?.unread) told++;
      const platform = dice.pick(["ubuntu", "arch", "darwin"]);
      expect(softwareChanges(details, { platform, rows })).toEqual(
        softwareChanges(plainly(body).details, { platform }),
      );
    }
    expect(told).toBeGreaterThan(20);
  });

  it("does not keep texts that were not needed for long", () => {
    const rows = new SoftwareRows();
    const rules = { source: "npm_packages", isPythonDeb: false };
    const of = (from: number, count: number) => {
      const texts = Array.from({ length: count }, (_, i) => `{"name":"p${from + i}"}`);
      return rows.entriesOf({ ok: true, rows: [], unread: `[${texts}]` }, rules)!;
    };
    const [often, once] = of(0, 2);
    for (let from = 2; from < 60_000; from += 1_000) {
      of(from, 1_000);
      expect(of(0, 1)[0]).toBe(often);
    }
    expect(of(1, 1)[0]).toEqual(once);
    expect(of(1, 1)[0]).not.toBe(once);
  });

  it("keeps the rows as text for the fingerprint, which detects any change", async () => {
    const rows = Array.from({ length: 300 }, (_, i) => ({ name: `package-${i}`, version: "1.0" }));
    const print = async (given: unknown) => {
      const parts = await parseWrite(bodyOf(given), detailQueries);
      const { details } = readResults(parts, detailQueries);
      expect(details.get("software_deb")!.unread).toBe(JSON.stringify(given));
      return softwareFingerprint(details, "ubuntu");
    };
    const first = await print(rows);
    expect(await print(rows)).toBe(first);
    expect(await print(rows.with(150, { name: "package-150", version: "1.1" }))).not.toBe(first);
    expect(await print(rows.slice(1))).not.toBe(first);
  });

  it("treats a failed query as failed, with its rows", async () => {
    const body = bodyOf(rowsOf(200)).replace(`"statuses":{"${DEB}":0`, `"statuses":{"${DEB}":1`);
    const { details } = readResults(await parseWrite(body, detailQueries), detailQueries);
    expect(details.get("software_deb")!.ok).toBe(false);
    expect(details.get("software_deb")!.unread).toBeUndefined();
  });

  it("treats rows that are not JSON as a failed query: the known values are kept", async () => {
    const body = bodyOf(Array.from({ length: 300 }, (_, i) => ({ name: `p${i}` }))).replace(
      '{"name":"p150"}',
      '{"name":oops}',
    );
    const { details } = readResults(await parseWrite(body, detailQueries), detailQueries);
    expect(details.get("software_deb")).toMatchObject({ ok: false, rows: [] });
    expect(details.get("os_version")!.ok).toBe(true);
  });

  it("parses a body completely if it is nested, has blanks or is small", () => {
    const sparing = (body: string) => parseSparing(body, () => true);
    expect(sparing(bodyOf(Array.from({ length: 300 }, () => ({ name: "a package" }))))).not.toBeNull();
    const rows = Array.from({ length: 300 }, (_, i) => ({ name: `p${i}` }));
    expect(sparing(JSON.stringify(JSON.parse(bodyOf(rows)), null, 1))).toBeNull();
    expect(sparing(bodyOf(rows.slice(0, 3)))).toBeNull();
    expect(sparing(JSON.stringify({ elsewhere: { [DEB]: rows }, queries: {} }))).toBeNull();
    expect(sparing(`{"queries":{"${DEB}":${JSON.stringify(rows)},"${DEB}":${JSON.stringify(rows)}}}`)).toBeNull();
    expect(sparing(`{"queries":{"${DEB}":${JSON.stringify(rows)}`)).toBeNull();
  });

  it("parses results of queries that are not large completely, however long they are", () => {
    const body = bodyOf(Array.from({ length: 300 }, (_, i) => ({ name: `p${i}` })));
    expect(parseSparing(body, (query) => query === "users")).toBeNull();
    expect(parseSparing(body, (query) => query === "software_deb")).not.toBeNull();
  });
});
