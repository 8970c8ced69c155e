// Synchronizes the devices of the business portal: new ones become expected hosts, and each gets its profile.

import { deleteInBatches } from "../../../checks/host-removal/removal.ts";
import { enrollLock } from "../../../hosts/enrollment/expected.ts";
import { joinedLabels } from "../../../hosts/labels/joined.ts";
import { managedAgents } from "../../../hosts/managed-agents/tables.ts";
import { expectNoEnrollment } from "../../../hosts/mdm-status/expected.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { hours, isoAt, minutes, seconds } from "../../../platform/core/clock.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { and, eq, exists, isNull, lt, not } from "../../../platform/store/query.ts";
import { assignProfiles } from "./assign.ts";
import { type PortalClient, PortalError, type PortalPage } from "./client.ts";
import { expectDeletedHosts, removeUnseen, writeDevices } from "./devices.ts";
import { type AbmTokenRow, clientOf, detailsOf, tokenRow } from "./tokens.ts";

const UNSEEN_BATCH_SIZE = 1000;
/** However long the portal asks to wait. */
const WAIT_MAX = hours(1);

export const portalSync: Job = {
  name: "dep_sync",
  every: minutes(1),
  period: async ({ settings }) => settings.dep_sync_interval,
  async run(services, signal) {
    for (const token of await services.store.abmTokens.list()) {
      if (signal.aborted) return;
      if (token.busy_until !== null && Date.parse(token.busy_until) > services.clock.now()) continue;
      await syncToken(services, token, signal);
    }
  },
};

/** A failure concerns this token only: it is shown with it, and the next period tries again. */
async function syncToken(services: Services, token: AbmTokenRow, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = services;
  const client = clientOf(services, token);
  let problem: PortalError | null = null;
  try {
    await readDevices(services, client, token.id, signal);
    await restoreDeleted(services, token, signal);
    const current = await store.abmTokens.get(token.id);
    if (current && !signal.aborted) await assignProfiles(services, client, current, signal);
  } catch (error) {
    if (!(error instanceof PortalError)) throw error;
    problem = error;
    log.warn(
      { token: token.id, problem: error.problem },
      `devices of the portal were not synchronized: ${error.message}`,
    );
  }
  await store.abmTokens.update({
    where: eq("id", token.id),
    set: {
      synced_at: clock.iso(),
      sync_error: problem?.message ?? "",
      busy_until:
        problem?.retryAfter == null ? null : isoAt(clock.now() + Math.min(seconds(problem.retryAfter), WAIT_MAX)),
      // Other failures leave open whether the terms are accepted and the token is valid.
      ...(problem === null ? { terms_expired: false, token_invalid: false } : {}),
      ...(problem?.problem === "terms" ? { terms_expired: true } : {}),
      ...(problem?.problem === "token" ? { token_invalid: true } : {}),
    },
  });
}

/** Reads pages until nothing follows. Each page and its cursor are one transaction, so that a crash repeats a page. */
async function readDevices(services: Services, client: PortalClient, id: number, signal: AbortSignal): Promise<void> {
  const { store } = services;
  let restarted = false;
  while (!signal.aborted) {
    const token = await beginOrGoOn(services, id);
    if (!token) return;
    let page: PortalPage;
    try {
      page = await (token.is_complete ? client.changes(token.cursor) : client.devices(token.cursor));
    } catch (error) {
      if (!(error instanceof PortalError)) throw error;
      if (error.problem === "exhausted" && !token.is_complete) {
        await complete(services, token, token.cursor, signal);
        continue;
      }
      // After seven days a cursor is useless: all devices are read again. Twice in a row would be an endless loop.
      if (error.problem !== "cursor" || restarted) throw error;
      restarted = true;
      await store.abmTokens.update({ where: eq("id", id), set: { cursor: "", is_complete: false, full_since: null } });
      continue;
    }
    const cursor = page.cursor === "" ? token.cursor : page.cursor;
    const labels = await services.running.of(joinedLabels).get();
    const gone = await store.tx(async (tx) => {
      const written = await writeDevices(services, tx, { token, page: page.devices, labels });
      await tx.abmTokens.update({ where: eq("id", id), set: { cursor } });
      return written.gone;
    }, enrollLock);
    await removeExpected(serviceContext(services), gone, signal);
    if (page.more_to_follow) continue;
    if (token.is_complete) return;
    await complete(services, token, cursor, signal);
    return;
  }
}

async function restoreDeleted(services: Services, token: AbmTokenRow, signal: AbortSignal): Promise<void> {
  const labels = await services.running.of(joinedLabels).get();
  for (let after: number | null = 0; after !== null && !signal.aborted; ) {
    const from: number = after;
    after = await services.store.tx(
      (tx) => expectDeletedHosts(services, tx, { token, labels, after: from }),
      enrollLock,
    );
  }
}

/** The token's row. The time is stored before the first page of all devices is requested. */
async function beginOrGoOn({ store, clock }: Services, id: number): Promise<AbmTokenRow | null> {
  const token = await store.abmTokens.get(id);
  if (!token || token.is_complete || token.full_since !== null) return token;
  const full_since = clock.iso();
  await store.abmTokens.update({ where: eq("id", id), set: { full_since } });
  return { ...token, full_since };
}

/** All devices were read: those that no page named have left. */
async function complete(services: Services, token: AbmTokenRow, cursor: string, signal: AbortSignal): Promise<void> {
  const { store, clock } = services;
  const since = token.full_since;
  while (since !== null && !signal.aborted) {
    const rows = await store.portalDevices.list({
      where: and(eq("token_id", token.id), isNull("deleted_at"), lt("seen_at", since)),
      limit: UNSEEN_BATCH_SIZE,
    });
    if (rows.length === 0) break;
    const { gone } = await store.tx((tx) => removeUnseen(tx, rows, clock.iso()));
    await removeExpected(serviceContext(services), gone, signal);
  }
  if (signal.aborted) return;
  await store.abmTokens.update({ where: eq("id", token.id), set: { cursor, is_complete: true, full_since: null } });
}

/** Deletes a token, its devices, and the hosts that were only expected because of it. */
export async function deleteToken(ctx: Context, id: number): Promise<Record<string, never>> {
  const token = await tokenRow(ctx, id);
  const gone: number[] = [];
  await ctx.store.tx(async (tx) => {
    const devices = await tx.portalDevices.pick(["host_id"], { where: eq("token_id", id) });
    gone.push(
      ...(await expectNoEnrollment(
        tx,
        devices.flatMap(({ host_id }) => host_id ?? []),
      )),
    );
    await tx.abmTokens.delete(eq("id", id));
    await recordActivity(within(ctx, tx), "deleted_abm_token", detailsOf(token));
  });
  await removeExpected(ctx, gone, new AbortController().signal);
  return {};
}

/** Deletes hosts that have never enrolled: nothing is known of them but that they were expected. */
async function removeExpected(ctx: Context, ids: readonly number[], signal: AbortSignal): Promise<void> {
  if (ids.length === 0) return;
  const neverEnrolled = and(isNull("detail_updated_at"), isNull("node_key_hash"), not(exists(managedAgents, "id")));
  await deleteInBatches(ctx, ids, neverEnrolled, { triggered_by: "expiration" }, signal);
}
