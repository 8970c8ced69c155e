// Inserts the rows of a fleet of mixed machines directly into the store.

import type { hosts } from "../../src/server/hosts/hosts/tables.ts";
import type { Services } from "../../src/server/platform/core/context.ts";
import type { InsertOf } from "../../src/server/platform/store/table.ts";
import { makeTeam } from "../../test/support/make.ts";
import { Dice } from "../../test/support/request-fuzz.ts";
import { fillAround, fillManagement } from "./management.ts";

export interface FilledStore {
  readonly hostId: number;
  readonly serial: string;
  readonly teamId: number;
  readonly labelId: number;
  readonly rareLabelId: number;
  readonly osVersionId: number;
  readonly commonVersionId: number;
  readonly commonTitleId: number;
  readonly rareVersionId: number;
  readonly policyId: number;
  readonly rarePolicyId: number;
  readonly solutionId: number;
  readonly munkiIssueId: number;
}

const BATCH_SIZE = 2000;
const LABELS = 20;
const TITLES = 3000;

const systems = [
  { name: "Ubuntu", version: "22.04", platform: "ubuntu" },
  { name: "Ubuntu", version: "24.04", platform: "ubuntu" },
  { name: "macOS", version: "15.3.1", platform: "darwin" },
  { name: "macOS", version: "14.7", platform: "darwin" },
  { name: "Microsoft Windows 11 Enterprise", version: "10.0.26100", platform: "windows" },
  { name: "Red Hat Enterprise Linux", version: "9.4", platform: "rhel" },
];

interface Version {
  readonly id: number;
  readonly title_id: number;
}

/** `fill` inserts the software versions that the hosts have, the common ones first. */
export async function fillHosts(
  services: Services,
  count: number,
  softwareEach: number,
  fill: (services: Services) => Promise<readonly Version[]> = fillSoftware,
): Promise<FilledStore> {
  const { store, clock } = services;
  const dice = new Dice(42);
  const teams: number[] = [];
  for (let i = 0; i < 10; i++) teams.push((await makeTeam({ store, clock: clock as never }, `Team ${i}`)).id);
  const osVersions = await store.osVersions.insertMany(systems);
  const versions = await fill(services);
  const now = clock.iso();
  const label = { created_at: now, updated_at: now, label_type: "regular", label_membership_type: "dynamic" } as const;
  const [half, rare, ...more] = await store.labels.insertMany([
    { ...label, name: "half of them" },
    { ...label, name: "one in a thousand" },
    ...Array.from({ length: LABELS - 2 }, (_, i) => ({ ...label, name: `label ${i}` })),
  ]);
  const around = await fillAround(services, versions, osVersions);
  let last = { id: 0, hardware_serial: "" };
  for (let at = 0; at < count; at += BATCH_SIZE) {
    const numbers = Array.from({ length: Math.min(BATCH_SIZE, count - at) }, (_, i) => at + i);
    const hosts = await store.hosts.insertMany(numbers.map((n) => hostOf(n, dice, clock.now(), teams, osVersions)));
    last = hosts.at(-1)!;
    await store.hostSeen.insertMany(hosts.map(({ id }) => seenOf(id, dice, clock.now())));
    await store.hostDetails.insertMany(
      hosts.map(({ id }) => ({
        id,
        users: [{ uid: 501, username: `user${id}`, type: "local", groupname: "staff", shell: "/bin/zsh" }],
        batteries: [],
      })),
    );
    await store.hostEmails.insertMany(
      hosts
        .filter(({ id }) => id % 5 === 0)
        .map(({ id }) => ({ host_id: id, email: `user${id}@example.com`, source: "custom" })),
    );
    await store.labelMembers.insertMany(
      hosts.flatMap(({ id }) => [
        ...(id % 2 === 0 ? [{ label_id: half!.id, host_id: id }] : []),
        ...(id % 1000 === 0 ? [{ label_id: rare!.id, host_id: id }] : []),
        ...more.filter((_, i) => (id + i) % 6 === 0).map(({ id: label_id }) => ({ label_id, host_id: id })),
      ]),
    );
    await store.hostSoftware.insertMany(hosts.map(({ id }) => inventoryOf(id, dice, versions, softwareEach)));
    await fillManagement(services, hosts, dice, around);
  }
  return {
    hostId: last.id,
    serial: last.hardware_serial,
    teamId: teams[3]!,
    labelId: half!.id,
    rareLabelId: rare!.id,
    osVersionId: osVersions[3]!.id,
    commonVersionId: versions[0]!.id,
    commonTitleId: versions[0]!.title_id,
    rareVersionId: versions.at(-1)!.id,
    policyId: around.policies[0]!.id,
    rarePolicyId: around.policies.at(-1)!.id,
    solutionId: around.solutions[0]!.id,
    munkiIssueId: around.issues[0]!.id,
  };
}

async function fillSoftware({ store }: Services) {
  const names = Array.from({ length: TITLES }, (_, i) => ({
    name: `Program ${i}`,
    source: "apps",
    key: `program ${i}`,
  }));
  const titles = await store.softwareTitles.insertMany(names);
  return store.software.insertMany(
    titles.map(({ id, name, source, key }) => ({ title_id: id, name, version: "1.0", source, key: `${key} 1.0` })),
  );
}

function hostOf(
  n: number,
  dice: Dice,
  now: number,
  teams: readonly number[],
  osVersions: readonly { id: number; name: string; version: string; platform: string }[],
): InsertOf<typeof hosts> {
  const os = dice.pick(osVersions);
  const created = new Date(now - dice.int(400 * 86_400_000)).toISOString();
  const name = `host-${dice.int(1e6)}-${n}.example.com`;
  const total = 250 + dice.int(4) * 250;
  const free = dice.int(total * 100) / 100;
  return {
    created_at: created,
    updated_at: new Date(now - dice.int(3_600_000)).toISOString(),
    detail_updated_at: new Date(now - dice.int(3_600_000)).toISOString(),
    label_updated_at: new Date(now - dice.int(3_600_000)).toISOString(),
    software_updated_at: new Date(now - dice.int(86_400_000)).toISOString(),
    last_enrolled_at: created,
    last_restarted_at: new Date(now - dice.int(30 * 86_400_000)).toISOString(),
    identifier: `id-${n}`,
    node_key_hash: `hash-${n}`,
    refetch_requested: false,
    uuid: `${dice.int(2 ** 31).toString(16)}-${n}`,
    hostname: name,
    display_name: name,
    computer_name: name,
    platform: os.platform,
    os_version: `${os.name} ${os.version}`,
    os_version_id: os.id,
    qengine_version: dice.pick(["5.14.1", "5.15.0", "5.16.0"]),
    uptime: dice.int(1e15),
    memory: dice.pick([8, 16, 32, 64]) * 2 ** 30,
    cpu_type: "x86_64",
    cpu_brand: dice.pick(["Apple M3", "Intel Core i7-1365U", "AMD EPYC 7R13"]),
    cpu_physical_cores: dice.pick([4, 8, 16]),
    cpu_logical_cores: dice.pick([8, 16, 32]),
    hardware_vendor: dice.pick(["Apple Inc.", "Dell Inc.", "LENOVO"]),
    hardware_model: dice.pick(["Mac15,6", "Latitude 7440", "21HM"]),
    hardware_serial: `S${(1e9 + dice.int(9e9)).toString(36).toUpperCase()}${n}`,
    primary_ip: `10.${dice.int(256)}.${dice.int(256)}.${dice.int(256)}`,
    primary_mac: `02:00:${dice.int(256).toString(16)}:${dice.int(256).toString(16)}:00:01`,
    public_ip: "203.0.113.7",
    distributed_interval: 10,
    config_tls_refresh: 60,
    logger_tls_period: 10,
    team_id: dice.chance(0.3) ? null : dice.pick(teams),
    gigs_total_disk_space: total,
    gigs_disk_space_available: free,
    percent_disk_space_available: Math.floor((free / total) * 100),
    disk_encryption_enabled: dice.chance(0.8),
  };
}

/** Three in four are online; one in fifty was last seen more than a month ago. */
function seenOf(id: number, dice: Dice, now: number) {
  const ago = dice.chance(0.75) ? dice.int(10_000) : dice.chance(0.08) ? 31 * 86_400_000 : dice.int(20 * 86_400_000);
  // Far enough ahead that their status does not change during the benchmark.
  const ahead = ago < 10_000 ? 3_600_000 : 70_000;
  return { id, seen_time: new Date(now - ago).toISOString(), online_until: new Date(now - ago + ahead).toISOString() };
}

function inventoryOf(id: number, dice: Dice, versions: readonly { id: number; title_id: number }[], count: number) {
  const hostVersions = new Set([versions[0]!]);
  // The first third of the programs is on all hosts, the last program on a few.
  while (hostVersions.size < count)
    hostVersions.add(versions[dice.int(dice.chance(0.8) ? versions.length / 3 : versions.length - 1)]!);
  if (id % 2500 === 0) hostVersions.add(versions.at(-1)!);
  const list = [...hostVersions];
  return {
    id,
    software_ids: list.map((version) => version.id),
    title_ids: list.map((version) => version.title_id),
    details: Object.fromEntries(
      list
        .slice(0, 30)
        .map((version): [string, [null, string[]]] => [
          String(version.id),
          [null, [`/Applications/${version.id}.app`]],
        ]),
    ),
  };
}
