// Finds the person who uses a host: the one whose user name, or else whose email address, is the account with which
// somebody has signed in on the host.

import { channels, hostsPayload } from "../../platform/core/channels.ts";
import { hours } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Job } from "../../platform/core/job.ts";
import { groupBy } from "../../platform/core/maps.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, oneOf, same } from "../../platform/store/query.ts";
import { clearIdpEmail, IDP_SOURCE, setIdpEmail } from "../hosts/emails.ts";

/** Host accounts per step. */
const BATCH_SIZE = 500;

/** Compares the hosts' accounts with people, and writes the differences. Returns the hosts that have another person. */
async function linkHosts(tx: ServerTx, hostIds: readonly number[]): Promise<number[]> {
  if (hostIds.length === 0) return [];
  const accounts = await tx.hostEmails.pick(["host_id", "email"], {
    where: and(oneOf("host_id", hostIds), eq("source", IDP_SOURCE)),
  });
  const logins = [...new Set(accounts.map(({ email }) => email.toLowerCase()))];
  const loginsByText = groupBy(
    await tx.scimLogins.pick(["login", "user_id", "kind"], { where: oneOf("login", logins) }),
    ({ login }) => login,
  );
  const personOf = new Map<number, number>();
  for (const { host_id, email } of accounts) {
    const [best] = [...(loginsByText.get(email.toLowerCase()) ?? [])].sort(
      (a, b) => Number(a.kind === "email") - Number(b.kind === "email") || a.user_id - b.user_id,
    );
    if (best) personOf.set(host_id, best.user_id);
  }
  const before = new Map((await tx.hostEndUsers.getMany(hostIds)).map(({ id, user_id }) => [id, user_id]));
  const changed = [...new Set(hostIds)].filter((id) => before.get(id) !== personOf.get(id));
  const gone = changed.filter((id) => !personOf.has(id));
  const linked = changed.filter((id) => personOf.has(id)).map((id) => ({ id, user_id: personOf.get(id)! }));
  if (gone.length > 0) await tx.hostEndUsers.delete(oneOf("id", gone));
  if (linked.length > 0) await tx.hostEndUsers.upsert(linked, { on: ["id"], returning: [] });
  return changed;
}

/** Call this in the transaction of a change: labels and profiles depend on who uses the hosts. */
export async function announce(tx: ServerTx, hostIds: readonly number[]): Promise<void> {
  if (hostIds.length > 0) await tx.notify(channels.endUsers, hostsPayload(hostIds));
}

/** The hosts that these people use, and those on which somebody has signed in with one of the accounts. */
export async function hostsOfPeople(
  tx: ServerTx,
  userIds: readonly number[],
  logins: readonly string[] = [],
): Promise<number[]> {
  const ids = new Set<number>();
  for await (const batch of parts(userIds))
    for (const { id } of await tx.hostEndUsers.pick(["id"], { where: oneOf("user_id", batch) })) ids.add(id);
  if (logins.length > 0) {
    const where = and(eq("source", IDP_SOURCE), same("email", ...logins));
    for (const { host_id } of await tx.hostEmails.pick(["host_id"], { where })) ids.add(host_id);
  }
  return [...ids];
}

/** After a person's attributes or accounts have changed. */
export async function relink(tx: ServerTx, hostIds: readonly number[]): Promise<void> {
  for await (const batch of parts(hostIds)) await linkHosts(tx, batch);
  await announce(tx, hostIds);
}

/** Sets the account with which somebody has signed in on the host. */
export async function setEndUser(tx: ServerTx, hostId: number, account: string): Promise<void> {
  await setIdpEmail(tx, hostId, account);
  await relink(tx, [hostId]);
}

/** Removes the account. Returns whether there was one. */
export async function clearEndUser(tx: ServerTx, hostId: number): Promise<boolean> {
  const had = await clearIdpEmail(tx, hostId);
  await relink(tx, [hostId]);
  return had;
}

/** A host and a person may have changed at the same moment, without seeing each other. */
export const endUserLinks: Job = {
  name: "end_users",
  every: hours(1),
  async run({ store }, signal) {
    const where = eq("source", IDP_SOURCE);
    for await (const page of store.hostEmails.pages({ where }, BATCH_SIZE, ["host_id"])) {
      if (signal.aborted) return;
      const ids = page.map(({ host_id }) => host_id);
      await store.tx(async (tx) => announce(tx, await linkHosts(tx, ids)));
    }
  },
};
