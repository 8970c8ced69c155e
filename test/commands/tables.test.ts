// How tables are rendered: times, ids and sizes on terminals of several widths.
import { expect, it } from "vitest";
import { type OutputOptions, renderOne, type View, writeList } from "../../src/cli/output/output.ts";
import { age, ago } from "../../src/cli/output/text.ts";
import { commandView } from "../../src/cli/topics/mdm/command.ts";
import { profileView } from "../../src/cli/topics/mdm/profiles.ts";
import { vulnerabilityView } from "../../src/cli/topics/software/versions.ts";
import { startFleet } from "../support/fleet.ts";

const NOW = new Date("2026-03-01T12:00:00.000Z");
const terminal = (width: number): OutputOptions => ({
  format: "table",
  header: true,
  bold: (text) => text,
  colour: (_, text) => text,
  width,
  time: (iso) => ago(iso, NOW),
  age: (iso) => age(iso, NOW),
});

async function listed(rows: readonly unknown[], view: View, options: OutputOptions): Promise<string> {
  let text = "";
  await writeList([rows], view, options, async (part) => {
    text += part;
  });
  return text;
}

it("shows the times of every list relative to now on a terminal, and as they are elsewhere", async () => {
  const found = {
    cve: "CVE-2026-1",
    hosts_count: 1,
    cve_published: "2025-11-20T00:00:00.000Z",
    created_at: "2026-02-28T12:00:00.000Z",
  };
  expect(await listed([found], vulnerabilityView, terminal(100))).toMatch(/CVE-2026-1 +1 +3mo +1d\n/);
  const piped: OutputOptions = { ...terminal(100), width: null };
  delete (piped as { age?: unknown }).age;
  expect(await listed([found], vulnerabilityView, piped)).toContain(
    "2025-11-20T00:00:00.000Z  2026-02-28T12:00:00.000Z",
  );
  for (const format of ["csv", "json", "yaml"] as const)
    expect(await listed([found], vulnerabilityView, { ...terminal(100), format })).toContain(found.created_at);
  const later = { not_before: "2026-03-01T14:00:00.000Z", created_at: "x" };
  expect(await renderOne(later, {}, terminal(100))).toBe("not_before  in 2 hours\ncreated_at  x\n");
});

it("never cuts ids and uuids, also on a terminal of 80 columns", async () => {
  const uuid = "6b1d2f1e-0d1c-4c7d-9b1e-000000000002";
  const changed = { updated_at: "2026-03-01T11:00:00.000Z", uploaded_at: "2026-03-01T11:00:00.000Z" };
  const row = {
    hostname: "a-host-with-a-long-name.example.com",
    command_uuid: uuid,
    request_type: "InstalledApplicationList",
    name: "",
    status: "acknowledged",
    command_status: "ran",
    ...changed,
  };
  const profile = {
    profile_uuid: `a${uuid}`,
    name: "A profile with a long name",
    platform: "darwin",
    identifier: "com.example.profile.long",
    ...changed,
  };
  for (const width of [80, 100]) {
    const commands = await listed([row], commandView(true, NOW), terminal(width));
    const profiles = await listed([profile], profileView, terminal(width));
    for (const text of [commands, profiles]) {
      expect(text).toContain(uuid);
      expect(Math.max(...text.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(width);
    }
    expect(profiles).toMatch(/ 1h\b/);
  }
});

it("abbreviates ages in lists", () => {
  const before = (seconds: number) => age(new Date(NOW.getTime() - seconds * 1000).toISOString(), NOW);
  expect([2, 10, 180, 7200, 3 * 86_400, 70 * 86_400, 800 * 86_400, -7200].map(before)).toEqual([
    "now",
    "10s",
    "3m",
    "2h",
    "3d",
    "2mo",
    "2y",
    "in 2h",
  ]);
  expect(age("2000-01-01T00:00:00Z", NOW)).toBe("never");
});

it("drops an empty column first, and never one that --fields names", async () => {
  const rows = [
    { id: 1, host: "a-host-with-a-long-name.example.com", os: "Windows 11 Enterprise 24H2", team: null },
    { id: 2, host: "another-host-with-a-long-name.example.com", os: "macOS 15.3.2", team: null },
  ];
  const columns: View["columns"] = [
    { key: "id" },
    { key: "host", least: 20 },
    { key: "os", spare: 3 },
    { key: "team" },
  ];
  const missing: string[] = [];
  const note = (headers: readonly string[]) => void missing.push(...headers);
  expect(await listed(rows, { columns }, { ...terminal(40), leftOut: note })).toMatch(/^ID +HOST +OS\n/);
  expect(missing).toEqual(["TEAM"]);

  missing.length = 0;
  let wide = 0;
  const narrow = { ...terminal(40), leftOut: note, tooWide: () => void wide++ };
  const chosen = await listed(rows, { columns }, { ...narrow, fields: ["host", "os", "team"] });
  expect(chosen).toMatch(/^HOST +OS +TEAM\n/);
  expect(chosen).toMatch(/ 24H2\n/);
  expect([missing, wide]).toEqual([[], 0]);
  await listed(rows, { columns }, { ...narrow, width: 25, fields: ["host", "os", "id", "team"] });
  expect([missing, wide]).toEqual([[], 1]);
});

it("shows memory in GiB in tables, and in bytes to programs", async () => {
  const fleet = await startFleet();
  await fleet.app.store.hosts.update({ where: { op: "eq", column: "id", value: 1 }, set: { memory: 17_179_869_184 } });
  const memory = (...argv: string[]) => fleet.run(["hosts", "list", "--fields", "id,memory", ...argv]);
  expect((await memory()).stdout).toMatch(/\n1 +16\.0 GiB\n/);
  expect((await memory("-o", "csv")).stdout).toContain("\n1,17179869184\n");
});
