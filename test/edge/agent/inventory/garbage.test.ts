import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { enrollChanges } from "../../../../src/server/edge/agent/inventory/host-fields.ts";
import { hostDetails, hosts } from "../../../../src/server/hosts/hosts/tables.ts";
import { toCount, toInt, toNumber, unixToIso } from "../../../../src/server/platform/agent-protocol/numbers.ts";
import { DETAIL_PREFIX, detailResults } from "../../../../src/server/platform/agent-protocol/rows.ts";
import { partRow } from "../../../../src/server/platform/store/rows.ts";
import {
  softwareChanges,
  softwareFingerprint,
  softwareKey,
  titleKey,
} from "../../../../src/server/software/software/inventory.ts";
import { amount } from "../../../support/engines.ts";
import { context, detailQueries, read } from "./fixture.ts";

// Cells that look like those that the rules parse, and any other JSON.
const cell = fc.oneof(
  { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  fc.constantFrom("", "-1", "0", "1", "true", "null", "99999999999999999999", "1e400", "-0", "NaN", "/C=/O=a/b", "::1"),
  fc.constantFrom("10.0.0.1", "fd00::1", "pack/Global/q", "darwin", "windows", "ubuntu", "C:", "/", "\ud800", "a\0b"),
);
const columns = [
  ...new Set([...detailQueries.byName.values()].flatMap(({ sql }) => sql.match(/[a-z_]{2,}/g) ?? [])),
  "name",
  "version",
  "platform",
  "major",
  "physical_memory",
  "hardware_serial",
  "sha1",
  "sid",
  "subject",
  "not_valid_after",
  "executions",
  "last_executed",
  "wall_time",
  "__proto__",
  "toString",
];
const row = fc.oneof(
  { weight: 4, arbitrary: fc.dictionary(fc.constantFrom(...columns), cell, { maxKeys: 12 }) },
  fc.jsonValue({ maxDepth: 2 }),
);
const rows = fc.oneof({ weight: 6, arbitrary: fc.array(row, { maxLength: 4 }) }, fc.jsonValue({ maxDepth: 2 }));
const name = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...[...detailQueries.byName.keys()].map((query) => DETAIL_PREFIX + query)) },
  fc.string(),
);
const status = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(0, "0", 1, "1", "", null) },
  fc.jsonValue({ maxDepth: 1 }),
);
const write = fc.record({
  queries: fc.oneof({ weight: 9, arbitrary: fc.dictionary(name, rows, { maxKeys: 40 }) }, fc.jsonValue()),
  statuses: fc.oneof({ weight: 9, arbitrary: fc.dictionary(name, status, { maxKeys: 10 }) }, fc.jsonValue()),
});
const platform = fc.constantFrom("", "darwin", "windows", "ubuntu", "arch", "chrome");

/** The value as received: with own keys such as __proto__. */
const sent = (value: unknown) => JSON.parse(JSON.stringify(value) ?? "null");

describe("invalid data from an agent", () => {
  it("never throws, and sets a host's fields only to values that its table can contain", () => {
    fc.assert(
      fc.property(write, platform, fc.string(), (made, known, publicIp) => {
        const results = detailResults(sent(made));
        const changes = read(results, context({ platform: known }, { publicIp }));
        partRow(hosts, { ...changes.set });
        const { users, batteries, packStats, certificates } = changes;
        partRow(hostDetails, {
          users: users ?? undefined,
          batteries: batteries ?? undefined,
          pack_stats: packStats,
          certificates,
        });
        for (const user of users ?? []) expect(Number.isSafeInteger(user.uid)).toBe(true);
      }),
      { numRuns: amount(500, 1500) },
    );
  });

  it("never throws in software, whose entries are always complete", () => {
    fc.assert(
      fc.property(write, platform, (made, known) => {
        const results = detailResults(sent(made));
        const { entries: reported, replaced } = softwareChanges(results, { platform: known });
        const entries = reported.map(({ version }) => version.software);
        expect(new Set(entries.map(softwareKey)).size).toBe(entries.length);
        for (const entry of entries) {
          expect(entry.name).not.toBe("");
          expect(replaced).toContain(entry.source);
          expect(titleKey(entry)).toMatch(/^[\w-]{32}$/);
        }
        expect(softwareFingerprint(results, known)).toBe(softwareFingerprint(detailResults(sent(made)), known));
      }),
      { numRuns: amount(500, 1500) },
    );
  });

  it("never throws in an enrollment", () => {
    const details = fc.dictionary(fc.constantFrom("os_version", "osquery_info", "system_info", "x"), row);
    fc.assert(
      fc.property(fc.oneof(details, fc.jsonValue()), cell, (made, mask) => {
        partRow(hosts, { ...enrollChanges(sent(made), sent(mask), context()).set });
      }),
      { numRuns: 500 },
    );
  });

  it("does not count as a status", () => {
    const ok = (value: unknown) =>
      detailResults({ queries: { svc_detail_query_x: [] }, statuses: { svc_detail_query_x: value } }).get("x")?.ok;
    for (const good of [0, "0", undefined, null, ""]) expect(ok(good)).toBe(true);
    for (const bad of [1, "1", 21, "no", {}, [], [0]]) expect(ok(bad)).toBe(false);
  });

  it("is distinguished from results: no rows, other names, failures without rows", () => {
    const results = detailResults({
      queries: { svc_detail_query_a: "", svc_label_query_7: [{}], svc_detail_query_b: [1, null, [], { x: "1" }] },
      statuses: { svc_detail_query_c: 1 },
    });
    expect([...results]).toEqual([
      ["a", { ok: true, rows: [] }],
      ["b", { ok: true, rows: [{ x: "1" }] }],
      ["c", { ok: false, rows: [] }],
    ]);
  });
});

describe("numbers", () => {
  it.each([
    ["", 0],
    [" 12 ", 12],
    ["-1.9", -1],
    ["1e3", 1000],
    ["+7", 7],
    [3.7, 3],
    [true, 1],
    ["9223372036854775807", Number.MAX_SAFE_INTEGER],
    ["-9223372036854775808", Number.MIN_SAFE_INTEGER],
    [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER],
    ["0x10", null],
    ["1 2", null],
    ["Infinity", null],
    [null, null],
    [undefined, null],
    [[5], null],
    [Number.NaN, null],
  ])("%j is %j as an integer", (given, expected) => expect(toInt(given)).toBe(expected));

  it("are never negative as counts, never -0, never infinite", () => {
    expect(toCount("-5")).toBe(0);
    expect(Object.is(toInt("-0.5"), 0)).toBe(true);
    expect(toNumber("1e999")).toBe(Number.MAX_VALUE);
  });
  it("become times only if positive, with four-digit years", () => {
    expect(unixToIso("1730000123.25")).toBe("2024-10-27T03:35:23.250Z");
    for (const none of ["", "0", "-1.0", "x", null]) expect(unixToIso(none)).toBeNull();
    expect(unixToIso("1e30")).toBe("9999-12-31T23:59:59.999Z");
  });
});
