// Lists and reports of hosts compared, byte by byte, with a slow reference that renders one host after the other from
// the values that were stored.
import { stringify } from "csv-stringify/sync";
import { describe, expect, it } from "vitest";
import { hostFieldNames } from "../../src/api/hosts/host-fields.ts";
import { hosts } from "../../src/server/hosts/hosts/tables.ts";
import { reportColumns } from "../../src/server/inventory/host-list/report.ts";
import { cleanText } from "../../src/server/platform/store/rows.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { bothEngines } from "../support/engines.ts";
import { type HostRow, hostRow, makeLabel, makePolicy, makeResults, makeTeam } from "../support/make.ts";

const TEXTS = ["", " ", "plain", 'say "hi"', "a,b", "back\\slash\\\\", "two\nlines", "cr\rhere", "\ttab", "=1+1", "+1", "-1", "@x", "＝1",
  "(a,b)", "{1,2}", "NULL", "\\N", "t", "\0nul", "\ud800lone", "ünïcödé", "日本語", "\u{1F600}", "\u2028", "'", '"', ",", "\\", "\\\"", "a".repeat(3000)]; // biome-ignore format: a list
const TIMES = ["2026-02-28T23:59:59.999Z", "2026-01-01T00:00:00.000Z", "1969-12-31T23:59:59.120Z", "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.001Z"]; // biome-ignore format: a list
const INTS = [0, 1, -1, 2 ** 31, 2 ** 53 - 1, -(2 ** 53 - 1)];
const REALS = [0, 0.1, -1.5, 1e21, 1.5e-7, 5e-324, 1.7976931348623157e308, 2 ** 53, 12.34];
const BOOLS = [true, false];
const OF_KIND: Record<string, readonly unknown[]> = { text: TEXTS, time: TIMES, int: INTS, real: REALS, bool: BOOLS };

const NEVER = "2000-01-01T00:00:00Z";
const pick = <T>(list: readonly T[], n: number): T => list[n % list.length]!;
const later = (time: string, seconds: number) => new Date(Date.parse(time) + seconds * 1000).toISOString();

/** The values of host number `n`: every column gets another value of its kind from host to host, or null. */
function oddRow(n: number, now: string, teamIds: readonly (number | null)[]) {
  const row: Record<string, unknown> = hostRow(now);
  for (const [at, [name, { spec }]] of Object.entries(hosts.columns).entries()) {
    const values = OF_KIND[spec.kind];
    if (spec.unique || spec.to !== null || values === undefined) continue;
    const place = n * (1 + (at % 3)) + at;
    row[name] = spec.nullable && place % 4 === 0 ? null : pick(values, place);
  }
  return { ...row, platform: pick(["darwin", "windows", "ubuntu", ""], n), team_id: pick(teamIds, n) } as HostRow;
}

/** Everything that is stored for one host. */
interface StoredHost {
  readonly row: HostRow;
  readonly seen: { seen_time: string; online_until: string } | null;
  readonly team: string | null;
  readonly mdm: Record<string, unknown>;
  readonly checkedIn: string | null;
  readonly enrolled: string | null;
  readonly failing: number;
  readonly emails: readonly { email: string; source: string }[];
  readonly additional: Record<string, unknown> | null;
  readonly labels: readonly unknown[];
}

/** Stores hosts that differ in everything that a list shows; returns what each was given. */
async function fill(t: TestApp, count: number): Promise<StoredHost[]> {
  const { store } = t;
  const now = t.clock.iso();
  const teams = [await makeTeam(t, 'Team, "one"'), await makeTeam(t, "=two")];
  const given = Array.from({ length: count }, (_, n) => oddRow(n, now, [null, teams[0]!.id, teams[1]!.id]));
  const ids = (await store.hosts.insertMany(given)).map(({ id }) => id);
  const solutions = await store.mdmSolutions.insertMany([
    { name: "Svc", server_url: 'https://mdm.example.com/a?b="c",d' },
    { name: "\\o/", server_url: "" },
  ]);
  const [alive, dead] = [await makePolicy(t), await makePolicy(t)];
  const {
    revision: _r,
    asked_revision: _a,
    asked_teams: _t,
    author_id: _u,
    criteria: _c,
    ...label
  } = await makeLabel(
    t,
    "every third",
    ids.filter((_, n) => n % 3 === 0),
  );
  const known: StoredHost[] = [];
  for (const [n, id] of ids.entries()) {
    const team =
      given[n]!.team_id === null ? null : given[n]!.team_id === teams[0]!.id ? teams[0]!.name : teams[1]!.name;
    const seen = n % 3 === 0 ? null : { seen_time: pick(TIMES, n), online_until: n % 2 === 0 ? later(now, 1) : now };
    if (seen) await store.hostSeen.insert({ id, ...seen });
    const enrollment = await enroll(t, n, id, solutions);
    const lock = n % 3 === 1 ? await act(t, n, id) : { device_status: "unlocked", pending_action: "" };
    const key = n % 2 === 0 ? await encrypt(t, n, id) : false;
    if (n % 4 > 0) await makeResults(t, id, { failing: n % 4 === 1 ? [alive] : n % 4 === 2 ? [alive, dead] : [dead] });
    const emails =
      n % 5 === 0
        ? [
            { email: 'z,"z"@example.com', source: "custom" },
            { email: "a@example.com", source: "custom" },
          ]
        : [];
    for (const one of emails) await store.hostEmails.insert({ host_id: id, ...one });
    const additional = n % 4 === 0 ? { time: [{ hour: "1" }], odd: TEXTS[n % 25] } : null;
    if (n % 2 === 0) await store.hostDetails.insert({ id, users: [], batteries: [], additional });
    known.push({
      row: { ...given[n]!, id },
      seen,
      team,
      mdm: { ...enrollment.fields, dep_profile_error: false, ...lock, encryption_key_available: key },
      checkedIn: enrollment.checkedIn,
      enrolled: enrollment.enrolled,
      failing: n % 4 === 1 || n % 4 === 2 ? 1 : 0,
      emails,
      additional,
      labels: n % 3 === 0 ? [label] : [],
    });
  }
  // Results of a deleted policy stay behind and must not be counted any more.
  await store.policies.delete({ op: "eq", column: "id", value: dead.id });
  return known;
}

async function enroll(
  { store }: TestApp,
  n: number,
  id: number,
  solutions: readonly { id: number; name: string; server_url: string }[],
) {
  const none = { enrollment_status: null, name: "", server_url: null, connected_to_svc: false };
  if (n % 4 === 0) return { fields: none, checkedIn: null, enrolled: null };
  const solution = n % 4 === 1 ? null : pick(solutions, n);
  const checked_in_at = n % 3 === 0 ? null : pick(TIMES, n);
  const enrolled_at = n % 5 === 0 ? null : pick(TIMES, n + 1);
  const is_server = n % 7 === 1;
  const status = {
    enrollment_status: pick(["On (manual)", "Pending", "Off"] as const, n),
    connected_to_svc: n % 2 === 0,
  };
  await store.hostMdm.insert({
    id,
    solution_id: solution?.id ?? null,
    is_server,
    enrolled_at,
    checked_in_at,
    ...status,
  });
  const { enrollment_status, connected_to_svc } = status;
  if (is_server && !connected_to_svc) return { fields: none, checkedIn: null, enrolled: null };
  const fields = {
    enrollment_status,
    name: solution?.name ?? "",
    server_url: solution?.server_url || null,
    connected_to_svc,
  };
  return { fields, checkedIn: checked_in_at, enrolled: enrolled_at };
}

async function act({ store }: TestApp, n: number, id: number) {
  const row = {
    locked: n % 2 === 0,
    wiped: n % 5 === 0,
    pending: pick(["", "lock", "wipe"] as const, n),
    failure: pick(["", 'no, "not" now'], n),
  };
  await store.hostActions.insert({ id, pin: "123456", ...row });
  return {
    device_status: row.wiped ? "wiped" : row.locked ? "locked" : "unlocked",
    pending_action: row.pending,
    ...(row.failure === "" ? {} : { action_failure: row.failure }),
  };
}

async function encrypt({ store }: TestApp, n: number, id: number) {
  const status = pick(["verified", "failed", null] as const, n);
  const key_updated_at = n % 4 === 0 ? "2026-01-01T00:00:00.000Z" : null;
  await store.hostDiskEncryption.insert({ id, status, key: "secret", key_updated_at });
  // With the setting off there is no state, and the key stays readable.
  return (status === "verified" || status === null) && key_updated_at !== null;
}

/** The text that goes into columns of this kind is cleaned by the store. */
const stored = (value: unknown): unknown => (typeof value === "string" ? cleanText(value) : value);

interface Parts {
  readonly labels?: boolean;
  readonly emails?: boolean;
  readonly additional?: readonly string[];
  readonly noIssues?: boolean;
}

const FROM_ROW = ["id", "created_at", "updated_at", "last_enrolled_at", "refetch_requested", "uuid", "hostname", "display_name",
  "computer_name", "platform", "platform_like", "code_name", "build", "os_version", "qengine_version", "agent_version",
  "svc_desktop_version", "scripts_enabled", "uptime", "memory", "cpu_type", "cpu_subtype", "cpu_brand", "cpu_physical_cores",
  "cpu_logical_cores", "hardware_vendor", "hardware_model", "hardware_version", "hardware_serial", "timezone", "public_ip",
  "primary_ip", "primary_mac", "distributed_interval", "config_tls_refresh", "logger_tls_period", "team_id",
  "gigs_disk_space_available", "gigs_total_disk_space", "percent_disk_space_available"] as const; // biome-ignore format: a list
const OR_NEVER = ["detail_updated_at", "label_updated_at", "policy_updated_at", "software_updated_at", "last_restarted_at"] as const; // biome-ignore format: a list

/** The reference: one host as the API shows it. */
function shown(known: StoredHost, now: string, premium: boolean, parts: Parts): Record<string, unknown> {
  const { row, seen } = known;
  // The keys come in the order of the fields; the values follow.
  const host: Record<string, unknown> = Object.fromEntries(hostFieldNames.map((name) => [name, undefined]));
  for (const name of FROM_ROW) host[name] = stored(row[name]);
  for (const name of OR_NEVER) host[name] = row[name] ?? NEVER;
  host.seen_time = seen?.seen_time ?? row.created_at;
  host.status = (seen?.online_until ?? later(row.created_at, 60)) > now ? "online" : "offline";
  host.display_text = stored(row.hostname);
  if (row.disk_encryption_enabled !== null) host.disk_encryption_enabled = row.disk_encryption_enabled;
  host.mdm = known.mdm;
  host.last_mdm_checked_in_at = known.checkedIn;
  host.last_mdm_enrolled_at = known.enrolled;
  host.team_name = known.team;
  const failing = parts.noIssues ? 0 : known.failing;
  host.issues = { failing_policies_count: failing, total_issues_count: failing };
  if (premium) Object.assign(host.issues as object, { critical_vulnerabilities_count: 0 });
  host.pack_stats = null;
  if (parts.additional && known.additional) {
    host.additional = Object.fromEntries(
      parts.additional.filter((name) => name in known.additional!).map((name) => [name, known.additional![name]]),
    );
  }
  if (parts.labels) host.labels = known.labels;
  if (parts.emails) host.device_mapping = known.emails.toSorted((a, b) => (a.email < b.email ? -1 : 1));
  return host;
}

function cellOf(host: Record<string, unknown>, column: string): unknown {
  if (column === "issues") return (host.issues as { total_issues_count: number }).total_issues_count;
  if (column === "device_mapping")
    return (host.device_mapping as { email: string }[]).map(({ email }) => email).join(", ");
  return column.startsWith("mdm.") ? (host.mdm as Record<string, unknown>)[column.slice(4)] : host[column];
}

const csvOf = (hosts: readonly Record<string, unknown>[], columns: readonly string[]): string =>
  stringify([columns, ...hosts.map((host) => columns.map((column) => cellOf(host, column)))], {
    escape_formulas: true,
    cast: { boolean: String },
    record_delimiter: "\r\n",
    quoted_match: /[\r\n]/,
  });

/** Shows the first host that differs instead of two texts of a megabyte. */
function expectSame(given: string, expected: string): void {
  if (given === expected) return;
  let at = 0;
  while (given[at] === expected[at]) at++;
  expect(given.slice(Math.max(0, at - 200), at + 200)).toBe(expected.slice(Math.max(0, at - 200), at + 200));
  throw new Error(`the texts differ in length: ${given.length} and ${expected.length}`);
}

describe.each(bothEngines)("hosts on %s", (engine) => {
  /** Without the look at every key, which takes longer than the reply. */
  const textOf = async (t: TestApp, path: string): Promise<string> => {
    const res = await t.raw(`/api/v1/svc${path}`, { headers: { authorization: `Bearer ${t.token}` } });
    expect(res.status, path).toBe(200);
    return res.text();
  };
  const meta = (before: boolean, after: boolean) => ({ has_next_results: after, has_previous_results: before });

  it("are rendered as the reference renders them, in short lists, long lists and reports", async () => {
    const t = await startApp({ engine });
    const known = await fill(t, 140);
    const now = t.clock.iso();
    const render = (list: readonly StoredHost[], parts: Parts = {}) => list.map((one) => shown(one, now, true, parts));
    const list = (hosts: readonly unknown[], before = false, after = false) =>
      JSON.stringify({ hosts, meta: meta(before, after) });

    expectSame(await textOf(t, "/hosts"), list(render(known)));
    expectSame(
      await textOf(t, "/hosts?per_page=50&page=1&order_key=id"),
      list(render(known.slice(50, 100)), true, true),
    );
    expectSame(await textOf(t, "/hosts?disable_issues=true"), list(render(known, { noIssues: true })));
    const parts: Parts = { emails: true, additional: ["odd", "missing", "time"], labels: true };
    expectSame(
      await textOf(t, "/hosts?device_mapping=true&additional_info_filters=odd,missing,time&populate_labels=true"),
      list(render(known, parts)),
    );

    const report = (query = "") => textOf(t, `/hosts/report?format=csv&order_key=id${query}`);
    expectSame(await report(), csvOf(render(known, { emails: true }), reportColumns));
    expectSame(
      await report("&disable_issues=true&columns=issues,id"),
      csvOf(render(known, { noIssues: true }), ["issues", "id"]),
    );
    for (const column of reportColumns)
      expectSame(await report(`&columns=${column}`), csvOf(render(known, { emails: true }), [column]));
    const some = ["status", "hostname", "mdm.pending_action", "team_name", "id", "hostname"];
    expectSame(
      await textOf(t, `/hosts/report?format=csv&columns=${some}&order_key=id&order_direction=desc`),
      csvOf(render(known).reverse(), some),
    );
  });

  it("are rendered the same when there are too many for one page", async () => {
    const t = await startApp({ engine, tier: "free" });
    const known = await fill(t, 60);
    const row = (n: number) => oddRow(n, t.clock.iso(), [null]);
    const more = Array.from({ length: 1500 }, (_, n) => row(n));
    const ids = (await t.store.hosts.insertMany(more)).map(({ id }) => id);
    const plain = {
      enrollment_status: null,
      name: "",
      server_url: null,
      connected_to_svc: false,
      dep_profile_error: false,
    };
    const mdm = { ...plain, device_status: "unlocked", pending_action: "", encryption_key_available: false };
    for (const [n, id] of ids.entries())
      known.push({
        row: { ...more[n]!, id },
        seen: null,
        team: null,
        mdm,
        checkedIn: null,
        enrolled: null,
        failing: 0,
        emails: [],
        additional: null,
        labels: [],
      });
    const rendered = known.map((one) => shown(one, t.clock.iso(), false, { emails: true }));
    expectSame(
      await textOf(t, "/hosts?device_mapping=true"),
      JSON.stringify({ hosts: rendered, meta: meta(false, false) }),
    );
    expectSame(
      await textOf(t, "/hosts?device_mapping=true&per_page=1200&page=0&order_key=id"),
      JSON.stringify({ hosts: rendered.slice(0, 1200), meta: meta(false, true) }),
    );
    expectSame(await textOf(t, "/hosts/report?format=csv&order_key=id"), csvOf(rendered, reportColumns));
    expectSame(await textOf(t, "/hosts/report?format=csv"), csvOf(rendered, reportColumns));
  });
});
