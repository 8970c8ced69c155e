// Macs that another product manages: their users ask for the change to this server.

import { requireAppleMdm } from "../../devices/gate.ts";
import type { HostRow } from "../../hosts/hosts/access.ts";
import { minutes } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { enqueue } from "../../platform/outbox/service.ts";
import { and, eq, isNull } from "../../platform/store/query.ts";

/** A repeated request within this time sends nothing: the first one is on its way. */
const ONCE_IN = minutes(3);

interface Steps {
  /** Another product manages the Mac. */
  readonly needs_mdm_migration: boolean;
  /** The business portal assigns the Mac to this server, but nothing manages it. */
  readonly renew_enrollment_profile: boolean;
}

const nothing: Steps = { needs_mdm_migration: false, renew_enrollment_profile: false };

/** What the user of the host has to do so that this server manages it. */
export async function migrationOf({ store, config }: Context, host: HostRow): Promise<Steps> {
  const { mdm } = await config.current();
  if (host.platform !== "darwin" || !mdm.enabled_and_configured || !mdm.macos_migration.enable) return nothing;
  const status = await store.hostMdm.get(host.id);
  if (status?.connected_to_svc) return nothing;
  if (status?.enrollment_status.startsWith("On")) return { needs_mdm_migration: true, renew_enrollment_profile: false };
  const assigned = and(eq("host_id", host.id), isNull("deleted_at"));
  return { needs_mdm_migration: false, renew_enrollment_profile: (await store.portalDevices.count(assigned)) > 0 };
}

/** The receiver of the webhook ends the management by the other product. */
export async function requestMigration(ctx: Context, host: HostRow): Promise<void> {
  await requireAppleMdm(ctx);
  const { mdm } = await ctx.config.current();
  const { enable, webhook_url: url } = mdm.macos_migration;
  if (!enable || url === "") throw badRequest("the migration of Macs is turned off: see mdm.macos_migration");
  if (!(await migrationOf(ctx, host)).needs_mdm_migration)
    throw badRequest("no other product manages this host, or it is no Mac");
  await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const now = inside.clock.iso();
      const before = await store.macMigrations.get(host.id);
      if (before !== null && inside.clock.now() - Date.parse(before.requested_at) < ONCE_IN) return;
      await store.macMigrations.upsert([{ id: host.id, requested_at: now }], { on: ["id"], returning: [] });
      const { id, uuid, hardware_serial } = host;
      await enqueue(store, inside, {
        kind: "webhook",
        event: "mdm_migration",
        destination: url,
        url,
        payload: { timestamp: now, host: { id, uuid, hardware_serial } },
        team_id: host.team_id,
      });
    },
    { lock: `migration of host ${host.id}` },
  );
}
