// Random selectors and filters select the same hosts on both stores as a simple implementation on plain objects.
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { HostFilter } from "../../src/api/inventory/host-filters.ts";
import { setDiskStates } from "../../src/server/hosts/disk-encryption/states.ts";
import { recordSettings } from "../../src/server/hosts/os-settings/statuses.ts";
import { hostsWhere } from "../../src/server/inventory/host-list/filters.ts";
import { service } from "../../src/server/platform/core/context.ts";
import { versionKey } from "../../src/server/platform/versions/ordering.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { amount, bothEngines } from "../support/engines.ts";
import { hostRow } from "../support/make.ts";

const NOW = Date.parse("2026-03-01T12:00:00.000Z");
const DAY = 86_400_000;
const at = (ms: number) => new Date(NOW - ms).toISOString();

/** The data of a host, as a plain object. */
interface Facts {
  id: number;
  hostname: string;
  platform: string;
  model: string;
  memory: number;
  free: number;
  encrypted: boolean | null;
  timezone: string | null;
  updated: number | null;
  created: number;
  seen: number | null;
  online: boolean;
  team: string | null;
  labels: string[];
  software: { name: string; version: string; cves: string[] }[];
  passing: string[];
  failing: string[];
  emails: string[];
  enrollment: string | null;
  server: boolean;
  solution: string | null;
  profiles: { uuid: string; status: string }[];
  encryption: string | null;
}

const TEAMS = ["Lab", "Desk"];
const LABELS = ["On loan", "Mine", "über"];
const POLICIES = ["Disk", "Firewall"];
const VERSIONS = [
  { name: "Chrome", version: "1", cves: ["CVE-1"] },
  { name: "Chrome", version: "2", cves: [] },
  { name: "Figma", version: "1", cves: ["CVE-1", "CVE-2"] },
];
const SOLUTIONS = ["Svc", "Rival"];
const ENROLLMENTS = ["On (automatic)", "On (manual)", "On (personal)", "Pending", "Off"] as const;
const STATUSES = ["verified", "verifying", "pending", "failed"] as const;
const ENCRYPTION = ["verified", "verifying", "action_required", "enforcing", "failed", "removing_enforcement"] as const;
const PLATFORMS = ["darwin", "windows", "ubuntu", "rhel", "rocky", "haiku", ""];
/** What a system says that it is like. */
const LIKE: Readonly<Record<string, string>> = { darwin: "darwin", rocky: "rhel centos Fedora", haiku: "beos" };

const some = <T>(values: readonly T[]) => fc.subarray([...values]);
const orNull = <T>(values: readonly T[]) => fc.option(fc.constantFrom(...values), { nil: null });
const fleet: fc.Arbitrary<Facts[]> = fc
  .array(
    fc.record({
      hostname: fc.constantFrom("mac-1", "MAC-2", "100%", "tux_a", "Ünal"),
      platform: fc.constantFrom(...PLATFORMS),
      model: fc.constantFrom("MacBook Pro", "Latitude", ""),
      memory: fc.constantFrom(0, 8, 16, 32).map((gigabytes) => gigabytes * 2 ** 30),
      free: fc.constantFrom(0, 4.5, 50),
      encrypted: orNull([true, false]),
      timezone: orNull(["Europe/Berlin", "UTC"]),
      updated: orNull([0, 2 * DAY, 9 * DAY]),
      created: fc.constantFrom(0, DAY / 2, 8 * DAY, 40 * DAY),
      seen: orNull([0, 3 * DAY, 31 * DAY]),
      team: orNull(TEAMS),
      labels: some(LABELS),
      software: some(VERSIONS),
      passing: some(POLICIES),
      emails: some(["ada@example.com", "bo@example.com"]),
      enrollment: orNull(ENROLLMENTS),
      server: fc.boolean(),
      solution: orNull(SOLUTIONS),
      profiles: fc.array(fc.record({ uuid: fc.constantFrom("p-1", "p-2"), status: fc.constantFrom(...STATUSES) }), {
        maxLength: 2,
      }),
      encryption: orNull(ENCRYPTION),
    }),
    { minLength: 30, maxLength: 30 },
  )
  .map((hosts) =>
    hosts.map((host, i): Facts => {
      const failing = POLICIES.filter((name) => !host.passing.includes(name) && i % 3 !== 0);
      const profiles = host.profiles.filter(({ uuid }, at) => host.profiles.findIndex((p) => p.uuid === uuid) === at);
      const online = host.seen === null ? host.created < 60_000 : host.seen === 0;
      return { ...host, failing, profiles, online, encryption: settled(host), id: i + 1 };
    }),
  );

/** States in between do not stay: the server compares them with the settings of the host's team. */
const settled = ({ platform, encryption }: { platform: string; encryption: string | null }): string | null =>
  encryption === null || encryption === "verified" || !/^(darwin|windows|ubuntu|debian|rhel|linux)$/.test(platform)
    ? encryption
    : "failed";

/** A selector as text, and its meaning. */
interface Selector {
  text: string;
  holds(host: Facts): boolean;
}

const quote = (text: string) => `"${text.replaceAll(/["\\]/g, "\\$&")}"`;
const lower = (text: string) => text.toLowerCase();

/** A text field: the values of a host. */
function textOf(
  field: string,
  values: readonly string[],
  of: (host: Facts) => string[],
  fold = (text: string) => text,
): fc.Arbitrary<Selector> {
  const value = fc.constantFrom(...values, "nothing like it");
  const is = (host: Facts, text: string) => of(host).some((own) => fold(own) === fold(text));
  return fc.oneof(
    value.map((text) => ({ text: `${field} = ${quote(text)}`, holds: (host: Facts) => is(host, text) })),
    value.map((text) => ({ text: `${field} != ${quote(text)}`, holds: (host: Facts) => !is(host, text) })),
    fc.array(value, { minLength: 1, maxLength: 3 }).chain((texts) =>
      fc.boolean().map((negated) => ({
        text: `${field} ${negated ? "NOT " : ""}in (${texts.map(quote).join(", ")})`,
        holds: (host: Facts) => texts.some((text) => is(host, text)) !== negated,
      })),
    ),
    fc.constantFrom("a", "MAC", "%", "_", "ook", "@", "1", "ü").map((text) => ({
      text: `${field} ~ ${quote(text)}`,
      holds: (host: Facts) => of(host).some((own) => lower(own).includes(lower(text))),
    })),
  );
}

const comparisons = {
  "<": (a: number, b: number) => a < b,
  "<=": (a: number, b: number) => a <= b,
  ">": (a: number, b: number) => a > b,
  ">=": (a: number, b: number) => a >= b,
} as const;
const comparison = fc.constantFrom(...(Object.keys(comparisons) as (keyof typeof comparisons)[]));
const numberOf = (
  field: string,
  bounds: readonly [string, number][],
  of: (host: Facts) => number,
): fc.Arbitrary<Selector> =>
  fc
    .tuple(fc.oneof(comparison, fc.constantFrom("=", "!=")), fc.constantFrom(...bounds))
    .map(([operator, [text, bound]]) => ({
      text: `${field} ${operator} ${text}`,
      holds: (host) =>
        operator === "="
          ? of(host) === bound
          : operator === "!="
            ? of(host) !== bound
            : comparisons[operator](of(host), bound),
    }));
/** A time, as its age in milliseconds; without one, of the year 2000. */
const ageOf = (field: string, of: (host: Facts) => number | null): fc.Arbitrary<Selector> => {
  const never = NOW - Date.parse("2000-01-01T00:00:00Z");
  return fc.tuple(comparison, fc.constantFrom(0, 3, 8, 31, 30_000)).chain(([operator, days]) => {
    const bound = at(days * DAY);
    const age = (host: Facts) => of(host) ?? never;
    return fc.constantFrom<Selector>(
      { text: `${field} ${operator} ${days}d`, holds: (host) => comparisons[operator](age(host), days * DAY) },
      { text: `${field} ${operator} ${bound}`, holds: (host) => comparisons[operator](days * DAY, age(host)) },
    );
  });
};
const fixed = (text: string, holds: (host: Facts) => boolean) => fc.constant<Selector>({ text, holds });

const linux = ["ubuntu", "rhel", "rocky"];
const leaf: fc.Arbitrary<Selector> = fc.oneof(
  textOf("hostname", ["mac-1", "100%", "Ünal"], ({ hostname }) => [hostname]),
  textOf("platform", ["darwin", "windows", "ubuntu"], ({ platform }) => [platform]),
  textOf("hardware_model", ["MacBook Pro", ""], ({ model }) => [model]),
  textOf("timezone", ["UTC"], ({ timezone }) => (timezone === null ? [] : [timezone])),
  textOf("label", LABELS, ({ labels }) => labels),
  textOf("team", TEAMS, ({ team }) => (team === null ? [] : [team]), lower),
  textOf("software.name", ["Chrome", "Figma"], ({ software }) => software.map(({ name }) => name)),
  textOf("software.version", ["1", "2"], ({ software }) => software.map(({ version }) => version)),
  textOf("policy.failing", POLICIES, ({ failing }) => failing),
  textOf("policy.passing", POLICIES, ({ passing }) => passing),
  textOf("email", ["ada@example.com"], ({ emails }) => emails),
  textOf("mdm.name", SOLUTIONS, ({ enrollment, solution }) =>
    enrollment === null || solution === null ? [] : [solution],
  ),
  textOf("cve", ["CVE-1", "cve-2"], ({ software }) => software.flatMap(({ cves }) => cves), lower),
  numberOf(
    "memory",
    [
      ["16GB", 16 * 2 ** 30],
      ["0", 0],
      ["8192MB", 8 * 2 ** 30],
    ],
    ({ memory }) => memory,
  ),
  numberOf(
    "gigs_disk_space_available",
    [
      ["4.5", 4.5],
      ["4500MB", 4.5],
      ["0", 0],
    ],
    ({ free }) => free,
  ),
  numberOf(
    "issues",
    [
      ["0", 0],
      ["1", 1],
      ["2", 2],
    ],
    ({ failing }) => failing.length,
  ),
  ageOf("seen", ({ seen, created }) => seen ?? created),
  ageOf("detail_updated_at", ({ updated }) => updated),
  ageOf("created_at", ({ created }) => created),
  fixed("platform = linux", ({ platform }) => linux.includes(platform)),
  fixed("online", ({ online }) => online),
  fixed("status = missing", ({ seen, created }) => (seen ?? created) >= 30 * DAY),
  fixed("status in (new, online)", ({ online, created }) => online || created <= DAY),
  fixed("disk_encryption_enabled", ({ encrypted }) => encrypted === true),
  fixed("disk_encryption_enabled = false", ({ encrypted }) => encrypted === false),
  fixed("disk_encryption_enabled != none", ({ encrypted }) => encrypted !== null),
  fixed("team = none", ({ team }) => team === null),
  fixed("label != none", ({ labels }) => labels.length > 0),
  fixed("detail_updated_at = never", ({ updated }) => updated === null),
  fixed("software(name ~ chrome and not version = 1)", ({ software }) =>
    software.some(({ name, version }) => name === "Chrome" && version !== "1"),
  ),
  comparison.chain((operator) =>
    fixed(`software.version ${operator} 1.5`, ({ software }) =>
      software.some(({ version }) => comparisons[operator](Number(version), 1.5)),
    ),
  ),
  fixed("software(name = Chrome and version < 2)", ({ software }) =>
    software.some(({ name, version }) => name === "Chrome" && Number(version) < 2),
  ),
  fixed("software(cve = CVE-2 or version = 2)", ({ software }) =>
    software.some(({ cves, version }) => cves.includes("CVE-2") || version === "2"),
  ),
  fixed("mdm.enrollment_status = enrolled", ({ enrollment }) => enrollment?.startsWith("On") ?? false),
  fixed(
    "mdm.disk_encryption in (failed, enforcing)",
    ({ encryption }) => encryption === "failed" || encryption === "enforcing",
  ),
);

const selector: fc.Arbitrary<Selector> = fc.letrec<{ tree: Selector }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    tie("tree").map((part) => ({ text: `not (${part.text})`, holds: (host: Facts) => !part.holds(host) })),
    fc.array(tie("tree"), { minLength: 2, maxLength: 3 }).map((parts) => ({
      text: parts.map(({ text }) => `(${text})`).join(" and "),
      holds: (host: Facts) => parts.every((part) => part.holds(host)),
    })),
    fc.array(tie("tree"), { minLength: 2, maxLength: 3 }).map((parts) => ({
      text: `(${parts
        .map(({ text }) => text.replaceAll(/^not /g, "NOT "))
        .map((text) => `(${text})`)
        .join(" OR ")})`,
      holds: (host: Facts) => parts.some((part) => part.holds(host)),
    })),
  ),
})).tree;

const asSetting = (encryption: string | null): string[] =>
  encryption === null
    ? []
    : [["action_required", "enforcing", "removing_enforcement"].includes(encryption) ? "pending" : encryption];
/** The worst state of a host's settings. */
function settings({ profiles, encryption }: Facts): string | undefined {
  const all = [...profiles.map(({ status }) => status), ...asSetting(encryption)];
  return ["failed", "pending", "verifying", "verified"].find((status) => all.includes(status));
}

const filters = fc.record(
  {
    status: fc.constantFrom("new" as const, "online" as const, "offline" as const, "missing" as const),
    query: fc.constantFrom("mac", "ada@example.com", "%", "zzz"),
    policy: fc.record({
      policy_id: fc.constantFrom(1, 2),
      policy_response: fc.constantFrom("passing" as const, "failing" as const),
    }),
    profile: fc.record({ profile_uuid: fc.constantFrom("p-1", "p-2"), profile_status: fc.constantFrom(...STATUSES) }),
    software_version_id: fc.constantFrom(1, 2, 9),
    vulnerability: fc.constantFrom("cve-1", "CVE-2"),
    mdm_name: fc.constantFrom("Svc", "Rival", "x"),
    mdm_enrollment_status: fc.constantFrom(
      "manual" as const,
      "automatic" as const,
      "enrolled" as const,
      "pending" as const,
      "unenrolled" as const,
    ),
    os_settings: fc.constantFrom(...STATUSES),
    os_settings_disk_encryption: fc.constantFrom(...ENCRYPTION),
    low_disk_space: fc.constantFrom(5, 90),
  },
  { requiredKeys: [] },
);
type Drawn = typeof filters extends fc.Arbitrary<infer T> ? T : never;

const enrolled = { manual: ["On (manual)"], automatic: ["On (automatic)"], enrolled: ["On (manual)", "On (automatic)", "On (personal)"], pending: ["Pending"], unenrolled: ["Off"] }; // biome-ignore format: a table
const meaning: { [K in keyof Drawn]-?: (value: NonNullable<Drawn[K]>, host: Facts) => boolean } = {
  status: (status, { online, created, seen }) =>
    status === "online"
      ? online
      : status === "offline"
        ? !online
        : status === "new"
          ? created <= DAY
          : (seen ?? created) >= 30 * DAY,
  query: (text, { hostname, emails }) =>
    lower(hostname).includes(text) || (text.includes("@") && emails.includes(text)),
  policy: ({ policy_id, policy_response }, host) => host[policy_response].includes(POLICIES[policy_id - 1]!),
  profile: ({ profile_uuid, profile_status }, { profiles }) =>
    profiles.some(({ uuid, status }) => uuid === profile_uuid && status === profile_status),
  software_version_id: (id, { software }) => software.some((version) => VERSIONS.indexOf(version) === id - 1),
  vulnerability: (cve, { software }) => software.some(({ cves }) => cves.includes(cve.toUpperCase())),
  mdm_name: (name, { enrollment, solution, server }) => enrollment !== null && solution === name && !server,
  mdm_enrollment_status: (status, { enrollment, server }) =>
    enrollment !== null && enrolled[status].includes(enrollment) && !server,
  os_settings: (status, host) => settings(host) === status && !(host.server && host.enrollment !== null),
  os_settings_disk_encryption: (status, host) =>
    host.encryption === status && !(host.server && host.enrollment !== null),
  low_disk_space: (gigabytes, { free }) => free > 0 && free < gigabytes,
};

async function fill({ store }: TestApp, hosts: readonly Facts[]): Promise<void> {
  const now = at(0);
  const settings = {
    host_expiry_settings: { host_expiry_enabled: false, host_expiry_window: 0 },
    features: { enable_host_users: true, enable_software_inventory: true, additional_queries: null },
  };
  const stamps = { created_at: now, updated_at: now };
  for (const name of TEAMS) await store.teams.insert({ ...stamps, name, name_key: lower(name), settings });
  // Built-in labels already exist.
  const kind = { label_type: "regular", label_membership_type: "manual" } as const;
  const labels = await store.labels.insertMany(LABELS.map((name) => ({ ...stamps, ...kind, name })));
  const labelId = (name: string) => labels.find((label) => label.name === name)!.id;
  for (const [i, name] of POLICIES.entries())
    await store.policies.insert({ ...stamps, name, query: "select 1", scope: "global", result_id: 70 + i });
  for (const [i, { name, version, cves }] of VERSIONS.entries()) {
    const [title] = await store.softwareTitles.upsert([{ name, source: "apps", key: name }], { on: ["key"] });
    const version_key = versionKey("apps", version);
    const made = await store.software.insert({
      title_id: title!.id,
      name,
      version,
      version_key,
      source: "apps",
      key: String(i),
    });
    for (const cve of cves) await store.softwareCves.insert({ software_id: made.id, cve });
  }
  for (const name of SOLUTIONS)
    await store.mdmSolutions.insert({ name, server_url: `https://${lower(name)}.example.com` });
  const idIn = (names: readonly string[], name: string) => names.indexOf(name) + 1;
  for (const host of hosts) {
    const { id } = host;
    await store.hosts.insert({
      ...hostRow(now, { hostname: host.hostname, platform: host.platform, platform_like: LIKE[host.platform] ?? "" }),
      id,
      uuid: `u${id}`,
      hardware_serial: `s${id}`,
      primary_ip: "",
      hardware_model: host.model,
      memory: host.memory,
      gigs_disk_space_available: host.free,
      disk_encryption_enabled: host.encrypted,
      timezone: host.timezone,
      detail_updated_at: host.updated === null ? null : at(host.updated),
      created_at: at(host.created),
      team_id: host.team === null ? null : idIn(TEAMS, host.team),
    });
    if (host.seen !== null)
      await store.hostSeen.insert({ id, seen_time: at(host.seen), online_until: at(host.seen - 60_000) });
    await store.labelMembers.insertMany(host.labels.map((name) => ({ host_id: id, label_id: labelId(name) })));
    const versions = host.software.map((version) => VERSIONS.indexOf(version) + 1);
    if (versions.length > 0)
      await store.hostSoftware.insert({ id, software_ids: versions, title_ids: [], details: {} });
    const results = (names: readonly string[]) => names.map((name) => POLICIES.indexOf(name) + 70);
    if (host.passing.length + host.failing.length > 0)
      await store.hostPolicies.insert({
        id,
        passing: results(host.passing),
        failing: results(host.failing),
        critical_count: 0,
        issues_count: host.failing.length,
      });
    await store.hostEmails.insertMany(host.emails.map((email) => ({ host_id: id, email, source: "custom" })));
    if (host.enrollment !== null)
      await store.hostMdm.insert({
        id,
        enrollment_status: host.enrollment as (typeof ENROLLMENTS)[number],
        is_server: host.server,
        solution_id: host.solution === null ? null : idIn(SOLUTIONS, host.solution),
      });
    const worst = ["failed", "pending", "verifying", "verified"] as const;
    const status = worst.find((one) => host.profiles.some((profile) => profile.status === one)) ?? null;
    await recordSettings(store, "profiles", [{ id, status }]);
    await store.hostProfiles.insertMany(
      host.profiles.map(({ uuid, status }) => ({
        host_id: id,
        profile_uuid: uuid,
        platform: "darwin",
        name: uuid,
        status: status as (typeof STATUSES)[number],
        operation_type: "install",
      })),
    );
    if (host.encryption !== null)
      await setDiskStates(store, [{ id, status: host.encryption as (typeof ENCRYPTION)[number], detail: "" }]);
  }
}

const RUNS = Number(process.env.FUZZ_RUNS ?? amount(75, 150));
let apps: TestApp[] = [];
let hosts: Facts[] = [];
beforeAll(async () => {
  [hosts] = fc.sample(fleet, { numRuns: 1 }) as [Facts[]];
  apps = await Promise.all(bothEngines.map((engine) => startApp({ engine, shared: true })));
  for (const app of apps) await fill(app, hosts);
});
afterAll(() => Promise.all(apps.map((app) => app.close())));

async function compare(filter: HostFilter, holds: (host: Facts) => boolean): Promise<void> {
  const expected = hosts.filter(holds).map(({ id }) => id);
  for (const { store, services } of apps) {
    const where = hostsWhere({ ...services, user: service }, filter, "hosts:list");
    const found = (await store.hosts.pick(["id"], { where })).map(({ id }) => id);
    expect(found, `${store.engine}: ${JSON.stringify(filter)}`).toEqual(expected);
    expect(await store.hosts.count(where), store.engine).toBe(expected.length);
  }
}

it("gives the same hosts for any selector", { timeout: 60_000 + RUNS * 200 }, async () => {
  const property = fc.asyncProperty(selector, ({ text, holds }) => {
    fc.pre(text.length <= 4096);
    return compare({ where: text }, holds);
  });
  await fc.assert(property, { numRuns: RUNS, endOnFailure: false });
});

it("gives the same hosts for any filters, alone and with a selector", { timeout: 60_000 + RUNS * 200 }, async () => {
  const property = fc.asyncProperty(filters, fc.option(selector), ({ policy, profile, ...rest }, chosen) => {
    fc.pre((chosen?.text.length ?? 0) <= 4096);
    const drawn = { ...rest, ...(policy && { policy }), ...(profile && { profile }) };
    const names = Object.keys(drawn) as (keyof Drawn)[];
    const means = (name: keyof Drawn, host: Facts) =>
      (meaning[name] as (value: unknown, host: Facts) => boolean)(drawn[name], host);
    return compare(
      { ...rest, ...policy, ...profile, ...(chosen && { where: chosen.text }) },
      (host) => names.every((name) => means(name, host)) && (chosen?.holds(host) ?? true),
    );
  });
  await fc.assert(property, { numRuns: RUNS, endOnFailure: false });
});
