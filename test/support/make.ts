// Rows that tests need, inserted directly into the store: specify only what the test is about.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { Role } from "../../src/api/access.ts";
import type { carves } from "../../src/server/checks/carves/tables.ts";
import type { policies } from "../../src/server/checks/policies/tables.ts";
import type { hosts } from "../../src/server/hosts/hosts/tables.ts";
import type { operations } from "../../src/server/hosts/operations/tables.ts";
import { channels } from "../../src/server/platform/core/channels.ts";
import { tokenHash } from "../../src/server/platform/core/random.ts";
import type { ServerTx } from "../../src/server/platform/core/tables.ts";
import { newResultIds } from "../../src/server/platform/shared-rows/result-ids.ts";
import type { InsertOf, RowOf } from "../../src/server/platform/store/table.ts";
import { versionKey } from "../../src/server/platform/versions/ordering.ts";
import { writeHostSoftware } from "../../src/server/software/software/host-rows.ts";
import type { InstalledDetails } from "../../src/server/software/software/tables.ts";
import {
  replaceVulnerabilities,
  setMetadata,
  type VulnerabilityMetadata,
} from "../../src/server/software/software/vulnerabilities/service.ts";
import { writeSeverities } from "../../src/server/software/software/vulnerabilities/severity.ts";
import type { Caller, TestApp } from "./app.ts";

type Maker = Pick<TestApp, "store" | "clock">;
export type HostRow = RowOf<typeof hosts>;

let serial = 0;
const next = () => ++serial;

export async function makeTeam({ store, clock }: Maker, name = `team ${next()}`) {
  return store.teams.insert({
    created_at: clock.iso(),
    updated_at: clock.iso(),
    name,
    name_key: name.normalize("NFC").toLowerCase(),
    settings: {
      host_expiry_settings: { host_expiry_enabled: false, host_expiry_window: 0 },
      features: { enable_host_users: true, enable_software_inventory: true, additional_queries: null },
    },
  });
}

export interface MadeUser extends Caller {
  readonly id: number;
  readonly token: string;
}

/** A signed-in user with a global role, or with roles on teams. */
export async function makeUser(
  t: Maker & Pick<TestApp, "as">,
  role: Role | { teams: readonly { id: number; role: Role }[] },
  more: { name?: string; email?: string; api_only?: boolean; force_password_reset?: boolean } = {},
): Promise<MadeUser> {
  const number = next();
  const { store, clock } = t;
  const user = await store.users.insert({
    created_at: clock.iso(),
    updated_at: clock.iso(),
    name: `User ${number}`,
    email: `user-${number}@example.com`,
    global_role: typeof role === "string" ? role : null,
    ...more,
  });
  if (typeof role !== "string")
    for (const { id, role: held } of role.teams)
      await store.userTeams.insert({ user_id: user.id, team_id: id, role: held });
  const token = await makeSession(t, user.id);
  return { ...t.as(token), id: user.id, token };
}

export async function makeSession({ store, clock }: Maker, userId: number): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const now = clock.iso();
  await store.sessions.insert({ user_id: userId, token_hash: tokenHash(token), created_at: now, accessed_at: now });
  return token;
}

/** A host; with `seen`, one that was last seen then (ISO), and is online for `onlineFor` seconds after that. */
export async function makeHost(
  { store, clock }: Maker,
  given: Partial<InsertOf<typeof hosts>> = {},
  { seen, onlineFor = 70 }: { seen?: string; onlineFor?: number } = {},
): Promise<HostRow> {
  const host = await store.hosts.insert(hostRow(clock.iso(), given));
  if (seen !== undefined)
    await store.hostSeen.insert({
      id: host.id,
      seen_time: seen,
      online_until: new Date(Date.parse(seen) + onlineFor * 1000).toISOString(),
    });
  return host;
}

export function hostRow(now: string, given: Partial<InsertOf<typeof hosts>> = {}): InsertOf<typeof hosts> {
  const number = next();
  const hostname = given.hostname ?? `host-${number}.example.com`;
  return {
    created_at: now,
    updated_at: now,
    last_enrolled_at: now,
    identifier: `identifier-${number}`,
    uuid: `uuid-${number}`,
    hardware_serial: `SERIAL${number}`,
    hostname,
    display_name: hostname,
    platform: "ubuntu",
    ...given,
  };
}

export async function makeLabel({ store, clock }: Maker, name: string, hostIds: readonly number[] = []) {
  const label = await store.labels.insert({
    created_at: clock.iso(),
    updated_at: clock.iso(),
    name,
    label_type: "regular",
    label_membership_type: "dynamic",
  });
  await store.labelMembers.insertMany(hostIds.map((host_id) => ({ label_id: label.id, host_id })));
  return label;
}

/** A policy; global by default. */
export async function makePolicy(
  { store, clock }: Maker,
  given: Partial<InsertOf<typeof policies>> = {},
): Promise<RowOf<typeof policies>> {
  const [result_id] = await newResultIds(store, 1, clock.iso());
  const row = await store.policies.insert({
    created_at: clock.iso(),
    updated_at: clock.iso(),
    scope: given.team_id ? "team" : "global",
    name: `policy ${next()}`,
    query: "SELECT 1;",
    result_id: result_id!,
    ...given,
  });
  await store.notify(channels.policies, "");
  return row;
}

/** The results of a host: the policies that it passes and those that it fails. */
export async function makeResults(
  { store }: { store: ServerTx },
  hostId: number,
  { passing = [], failing = [] }: { passing?: { result_id: number }[]; failing?: { result_id: number }[] },
): Promise<void> {
  const ids = (list: { result_id: number }[]) => list.map(({ result_id }) => result_id).sort((a, b) => a - b);
  const row = {
    id: hostId,
    passing: ids(passing),
    failing: ids(failing),
    critical_count: 0,
    issues_count: failing.length,
  };
  await store.hostPolicies.upsert([row], { on: ["id"] });
}

export async function makeSoftware({ store }: { store: ServerTx }, name: string, version: string, source = "apps") {
  const key = `${name}|${source}`;
  const [title] = await store.softwareTitles.upsert([{ name, source, key }], { on: ["key"] });
  const version_key = versionKey(source, version);
  return store.software.insert({ title_id: title!.id, name, version, version_key, source, key: `${key}|${version}` });
}

/** The software of a host, which replaces the previous one. */
interface MadeVulnerabilities {
  readonly software?: number;
  readonly os?: number;
  readonly cves: readonly string[];
  readonly fixedIn?: string | null;
  /** What is known about all of them. */
  readonly known?: Partial<Omit<VulnerabilityMetadata, "cve">>;
}

/** Gives a software version or an operating system version these vulnerabilities, and no others. */
export async function makeVulnerabilities({ store, clock }: Maker, given: MadeVulnerabilities): Promise<void> {
  const { software, os, cves, fixedIn = null, known } = given;
  const found = cves.map((cve) => ({ cve, resolved_in_version: fixedIn }));
  const nothing = { cvss_score: null, epss_probability: null, cve_published: null, cve_description: null };
  const details = cves.map((cve) => ({ ...nothing, cisa_known_exploit: false, ...known, cve }));
  await store.tx(async (tx) => {
    if (software !== undefined) await replaceVulnerabilities(tx, "software", software, found, clock.iso());
    if (os !== undefined) await replaceVulnerabilities(tx, "os", os, found, clock.iso());
    if (known === undefined) return;
    await setMetadata(tx, details);
    if (software !== undefined) await writeSeverities(tx, [software]);
  });
}

export async function makeInventory(
  { store }: { store: ServerTx },
  hostId: number,
  versions: readonly { id: number; title_id: number; opened?: string; paths?: string[] }[],
) {
  const row = {
    id: hostId,
    software_ids: versions.map(({ id }) => id),
    title_ids: [...new Set(versions.map(({ title_id }) => title_id))],
    details: Object.fromEntries<InstalledDetails[string]>(
      versions.map(({ id, opened = null, paths }) => [String(id), paths ? [opened, paths] : [opened]]),
    ),
  };
  await store.tx((tx) => writeHostSoftware(tx, [row]));
}

/** A carve with that content, of which this many blocks have arrived (default: all). */
export async function makeCarve(
  { store, clock, services }: Maker & Pick<TestApp, "services">,
  hostId: number,
  content: Buffer,
  {
    blockSize = 4,
    stored = Math.ceil(content.length / blockSize),
    ...more
  }: Partial<InsertOf<typeof carves> & { blockSize: number; stored: number }> = {},
) {
  const number = next();
  const block = (i: number) => content.subarray(i * blockSize, (i + 1) * blockSize);
  const carve = await store.carves.insert({
    created_at: clock.iso(),
    updated_at: clock.iso(),
    host_id: hostId,
    name: `host-${number}-${clock.iso().slice(0, 19)}Z-r${number}`,
    block_count: Math.ceil(content.length / blockSize),
    block_size: blockSize,
    carve_size: content.length,
    carve_id: randomUUID(),
    request_id: `r${number}`,
    session_id: randomUUID(),
    max_block: stored - 1,
    last_block_hash:
      stored > 0
        ? createHash("sha256")
            .update(block(stored - 1))
            .digest("hex")
        : "",
    expires_at: stored > 0 ? new Date(clock.now() + 86_400_000).toISOString() : null,
    ...more,
  });
  for (let i = 0; i < stored; i++)
    await services.blobs.put(`carves/${carve.id}/${i}`, Readable.from([block(i)]), { maxBytes: blockSize });
  return carve;
}

/** An operation of the host: a pending script, unless given otherwise. */
export async function makeOperation(
  { store, clock }: Pick<TestApp, "store" | "clock">,
  hostId: number,
  { content = "true", ...more }: Partial<InsertOf<typeof operations> & { content: string }> = {},
) {
  const digest = createHash("sha256").update(content).digest("hex");
  const [row] = await store.operationContents.upsert([{ digest, content, used_at: clock.iso() }], { on: ["digest"] });
  return store.operations.insert({
    created_at: clock.iso(),
    uuid: randomUUID(),
    host_id: hostId,
    kind: "script",
    priority: more.kind === undefined || more.kind === "script" ? 10 : 0,
    user_id: null,
    content_id: row!.id,
    timeout: 60,
    sent_at: null,
    due_at: null,
    ended_at: null,
    result: null,
    ...more,
  });
}
