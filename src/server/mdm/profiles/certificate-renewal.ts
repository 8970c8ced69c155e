// Devices do not renew certificates that profiles had them enroll: before such a certificate ends, its profile is sent
// again. It is known by the renewal id, which the profile puts into the subject of the certificate.
import { days } from "../../core/clock.ts";
import { type Context, type Services, serviceContext } from "../../core/context.ts";
import type { Job } from "../../core/job.ts";
import type { CertificateInventory } from "../../hosts/details.ts";
import { and, eq, oneOf } from "../../store/query.ts";
import { contentsOf } from "./contents.ts";
import { applyEvents } from "./host-rows.ts";
import { notifyProfiles } from "./part.ts";
import { namesIn, RENEWAL_ID, renewalIdOf } from "./variables.ts";

/** Hosts or profiles per step. */
const STEP = 100;
const BEFORE_END = days(30);

export async function renewCertificates(services: Services, signal?: AbortSignal): Promise<void> {
  const ctx = serviceContext(services, "profile certificates");
  for await (const profiles of ctx.store.configurationProfiles.pages({ where: eq("has_variables", true) }, STEP)) {
    const contents = await contentsOf(
      ctx.store,
      profiles.map(({ id }) => id),
    );
    for (const { id, uuid } of profiles)
      if (namesIn(contents.get(id)?.toString() ?? "").includes(RENEWAL_ID)) await renewOf(ctx, uuid, signal);
  }
}

async function renewOf(ctx: Context, uuid: string, signal?: AbortSignal): Promise<void> {
  const installed = and(eq("operation_type", "install"), oneOf("status", ["verifying", "verified"]));
  const where = and(eq("profile_uuid", uuid), installed);
  for await (const rows of ctx.store.hostProfiles.pages({ where }, STEP)) {
    if (signal?.aborted) return;
    const details = await ctx.store.hostDetails.getMany(rows.map(({ host_id }) => host_id));
    const ending = new Set(
      details.flatMap(({ id, certificates }) => {
        const own = (certificates ?? []) as readonly CertificateInventory[];
        return endsSoon(own, renewalIdOf(uuid), ctx.clock.now()) ? [id] : [];
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
  const own = certificates.filter(({ subject }) => subject.organizational_unit.includes(renewalId));
  const ends = own.flatMap(({ not_valid_before: from, not_valid_after: to }) => {
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
