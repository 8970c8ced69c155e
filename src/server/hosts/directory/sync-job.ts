// Reads people and groups of the directory into the tables of the identity provider's people (scim/from-directory.ts).
import { hours } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq } from "../../platform/store/query.ts";
import { keepGroup, keepPeople, removeGroups, removePeople, staleGroups, stalePeople } from "../scim/from-directory.ts";
import { SCIM_LOCK_OPTIONS } from "../scim/users.ts";
import { DirectoryClient, type DirectoryGroup } from "./client.ts";
import { type CredentialsRow, credentialsRow, isSame } from "./credentials.ts";
import { DirectoryError } from "./problems.ts";

const GROUPS_MAX = 100_000;

/** Ends a run whose credentials were replaced or deleted in the meantime, or that was asked to stop. */
class SyncEnded extends Error {}

export const directorySync: Job = {
  name: "directory_sync",
  every: hours(1),
  async run(services, signal) {
    const row = await credentialsRow(services.store);
    if (row === null) return;
    let error: DirectoryError | null = null;
    try {
      await sync(services, row, signal);
    } catch (caught) {
      if (caught instanceof SyncEnded) return;
      if (!(caught instanceof DirectoryError)) throw caught;
      error = caught;
      services.log.warn({ problem: caught.message }, "the directory was not synchronized");
    }
    await services.store.directoryCredentials.update({
      where: and(eq("id", row.id), eq("tenant_id", row.tenant_id), eq("updated_at", row.updated_at)),
      set:
        error === null
          ? { last_synced_at: services.clock.iso(), last_sync_error: "", credential_invalid: false }
          : {
              last_sync_error: error.message,
              // Other failures leave open whether the directory accepts the credentials.
              ...(error.problem === "credentials" ? { credential_invalid: true } : {}),
            },
    });
  },
};

async function sync(services: Services, row: CredentialsRow, signal: AbortSignal): Promise<void> {
  const { store, clock } = services;
  const client = new DirectoryClient(services, row);
  /** A step of the synchronization; it changes nothing once other credentials are set. */
  const step = <T>(work: (tx: ServerTx) => Promise<T>): Promise<T> => {
    if (signal.aborted) throw new SyncEnded();
    return store.tx(async (tx) => {
      if (!isSame(await credentialsRow(tx), row)) throw new SyncEnded();
      return work(tx);
    }, SCIM_LOCK_OPTIONS);
  };

  const people = new Map<string, number>();
  for await (const page of client.people()) {
    const stored = await step((tx) => keepPeople(tx, page, clock.iso()));
    for (const [id, userId] of stored) people.set(id, userId);
  }
  // Each directory has the people who manage it: without any, something is wrong with the reply.
  if (people.size === 0) throw new DirectoryError("unreachable", "the directory lists no people: none were removed");
  const groups = await groupsOf(client);
  for (const group of groups) {
    const members = await membersOf(client, group.id);
    if (members === null) continue;
    const userIds = members.flatMap((id) => people.get(id) ?? []);
    await step((tx) => keepGroup(tx, group, userIds, clock.iso()));
  }
  const groupIds = new Set(groups.map(({ id }) => id));
  for await (const ids of parts(await staleGroups(store, groupIds), 100)) await step((tx) => removeGroups(tx, ids));
  for await (const ids of parts(await stalePeople(store, people), 500)) await step((tx) => removePeople(tx, ids));
}

/** The groups, one for each name: of several with the same name, always the same one. */
async function groupsOf(client: DirectoryClient): Promise<DirectoryGroup[]> {
  const all: DirectoryGroup[] = [];
  for await (const page of client.groups()) {
    for (const group of page) if (group.displayName !== "") all.push(group);
    if (all.length > GROUPS_MAX)
      throw new DirectoryError("refused", `the directory has more than ${GROUPS_MAX} groups: none were changed`);
  }
  const ofName = new Map<string, DirectoryGroup>();
  for (const group of all) {
    const key = group.displayName.toLowerCase();
    const other = ofName.get(key);
    if (!other || group.id < other.id) ofName.set(key, group);
  }
  return [...ofName.values()];
}

/** Null: the group was deleted while the directory was read. */
async function membersOf(client: DirectoryClient, groupId: string): Promise<string[] | null> {
  const ids: string[] = [];
  try {
    for await (const page of client.members(groupId)) for (const id of page) ids.push(id);
  } catch (error) {
    if (error instanceof DirectoryError && error.problem === "gone") return null;
    throw error;
  }
  return ids;
}
