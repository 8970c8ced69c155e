// Rows that tests need, made straight in the store: state only what the test is about.
import { randomBytes } from "node:crypto";
import type { Role } from "../../src/api/access.ts";
import { tokenHash } from "../../src/server/core/random.ts";
import type { hosts } from "../../src/server/hosts/tables.ts";
import type { InsertOf, RowOf } from "../../src/server/store/table.ts";
import type { ServerTx } from "../../src/server/tables.ts";
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

/** A host; with `seen`, one that was heard of then (ISO), and is online for `onlineFor` seconds from there. */
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

export async function makeSoftware({ store }: { store: ServerTx }, name: string, version: string, source = "apps") {
  const key = `${name}|${source}`;
  const [title] = await store.softwareTitles.upsert([{ name, source, key }], { on: ["key"] });
  return store.software.insert({ title_id: title!.id, name, version, source, key: `${key}|${version}` });
}

/** What a host has, replacing what it had. */
export async function makeInventory(
  { store }: { store: ServerTx },
  hostId: number,
  versions: readonly { id: number; title_id: number; opened?: string; paths?: string[] }[],
) {
  const row = {
    id: hostId,
    software_ids: versions.map(({ id }) => id),
    title_ids: [...new Set(versions.map(({ title_id }) => title_id))],
    details: Object.fromEntries(
      versions.map(({ id, opened, paths }): [string, [string | null, string[]]] => [
        String(id),
        [opened ?? null, paths ?? []],
      ]),
    ),
  };
  await store.hostSoftware.upsert([row], { on: ["id"] });
}
