// Devices do not renew certificates that profiles had them enroll: before such a certificate ends, its profile is sent
// again. It is known by the renewal id, which the profile puts into the subject of the certificate.

import type { CertificateInventory } from "../../hosts/hosts/details.ts";
import { days } from "../../platform/core/clock.ts";
import { type Context, type Services, serviceContext } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { and, eq, lte, oneOf } from "../../platform/store/query.ts";
import { contentsOf } from "./contents.ts";
import { applyEvents } from "./host-rows.ts";
import { notifyProfiles } from "./part.ts";
import { namesIn, RENEWAL_ID, renewalIdOf } from "./variables.ts";

/** Hosts or profiles per step. */
const BATCH_SIZE = 100;
const BEFORE_END = days(30);

async function renewCertificates(services: Services, signal?: AbortSignal): Promise<void> {
  const ctx = serviceContext(services, "profile certificates");
  for await (const profiles of ctx.store.configurationProfiles.pages(
    { where: eq("has_variables", true) },
    BATCH_SIZE,
  )) {
    const contents = await contentsOf(
      ctx.store,
      profiles.map(({ id }) => id),
    );
    for (const { id, uuid } of profiles)
      if (namesIn(contents.get(id)?.toString() ?? "").includes(RENEWAL_ID)) await renewOf(ctx, uuid, signal);
  }
  await renewContained(ctx, signal);
}

/** Certificates that profiles contain: this server has ordered them, and knows when they end. */
async function renewContained(ctx: Context, signal?: AbortSignal): Promise<void> {
  const isDue = lte("renew_at", ctx.clock.iso());
  for (;;) {
    if (signal?.aborted) return;
    const done = await ctx.store.tx(async (store) => {
      const due = await store.profileChallenges.list({ where: isDue, limit: BATCH_SIZE });
      const installed = and(eq("operation_type", "install"), oneOf("status", ["verifying", "verified"]));
      const rows = await store.hostProfiles.list({
        where: and(
          installed,
          oneOf("host_id", [...new Set(due.map(({ host_id }) => host_id))]),
          oneOf("profile_uuid", [...new Set(due.map(({ profile_uuid }) => profile_uuid))]),
        ),
      });
      const keys = new Set(due.map(({ host_id, profile_uuid }) => `${host_id} ${profile_uuid}`));
      const changed = rows.filter(({ host_id, profile_uuid }) => keys.has(`${host_id} ${profile_uuid}`));
      const events = changed.map((row) => ({ row, event: { type: "changed" } as const }));
      await applyEvents({ ...ctx, store }, events);
      const ids = due.map(({ id }) => id);
      // Hosts that have not got the profile yet get it with a new certificate, too.
      await store.profileChallenges.update({ where: oneOf("id", ids), set: { renew_at: null, requested: null } });
      if (changed.length > 0) await notifyProfiles(store, { hostIds: changed.map(({ host_id }) => host_id) });
      return due.length;
    });
    if (done < BATCH_SIZE) return;
  }
}

async function renewOf(ctx: Context, uuid: string, signal?: AbortSignal): Promise<void> {
  const installed = and(eq("operation_type", "install"), oneOf("status", ["verifying", "verified"]));
  const where = and(eq("profile_uuid", uuid), installed);
  for await (const rows of ctx.store.hostProfiles.pages({ where }, BATCH_SIZE)) {
    if (signal?.aborted) return;
    const details = await ctx.store.hostDetails.getMany(rows.map(({ host_id }) => host_id));
    const ending = new Set(
      details.flatMap(({ id, certificates }) => {
        const inventory = (certificates ?? []) as readonly CertificateInventory[];
        return endsSoon(inventory, renewalIdOf(uuid), ctx.clock.now()) ? [id] : [];
      }),
    );
    const due = rows.filter(({ host_id }) => ending.has(host_id));
    if (due.length === 0) continue;
    await ctx.store.tx(async (store) => {
      const events = due.map((row) => ({ row, event: { type: "changed" } as const }));
      await applyEvents({ ...ctx, store }, events);
      await notifyProfiles(store, { hostIds: [...ending] });
    });
  }
}

/** Whether the newest certificate with this id ends within 30 days, or has lived half of a short life. */
function endsSoon(certificates: readonly CertificateInventory[], renewalId: string, now: number): boolean {
  const matches = certificates.filter(({ subject }) => subject.organizational_unit.includes(renewalId));
  const ends = matches.flatMap(({ not_valid_before: from, not_valid_after: to }) => {
    if (to === null) return [];
    const life = from === null ? Number.POSITIVE_INFINITY : Date.parse(to) - Date.parse(from);
    return [{ end: Date.parse(to), notice: Math.min(BEFORE_END, life / 2) }];
  });
  const newest = ends.sort((a, b) => b.end - a.end)[0];
  return newest !== undefined && newest.end - newest.notice <= now;
}

export const certificateRenewal: Job = {
  name: "profile_certificates",
  every: days(1),
  run: renewCertificates,
};
