// Links to the page of a host that users of this server have asked for.

import { type HostRow, hostFor } from "../../hosts/hosts/access.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { hours, isoAt } from "../../platform/core/clock.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { may } from "../../platform/core/security/access.ts";
import { viewerOf } from "../../platform/core/security/viewer.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { and, eq, gt, lte, oneOf } from "../../platform/store/query.ts";
import { linkToPages } from "../../settings/app-config/device-pages-url.ts";

const LIFETIME = hours(1);

/** Null if the host was transferred, or if whoever has asked for the link may not do so any more. */
export async function hostOfLink(
  { store, clock }: Pick<Context, "store" | "clock">,
  token_hash: string,
): Promise<HostRow | null> {
  const where = and(eq("token_hash", token_hash), gt("expires_at", clock.iso()));
  const link = await store.deviceLinks.first({ where });
  if (!link) return null;
  const { host_id, user_id, team_id } = link;
  const [host, user] = await Promise.all([
    store.hosts.get(host_id),
    user_id === null ? null : store.users.get(user_id),
  ]);
  if (!host || !user || host.team_id !== team_id) return null;
  return may(await viewerOf(store, user, null), LINK_ACTION, host.team_id) ? host : null;
}

/** Whoever may lock a host may see its page. */
const LINK_ACTION = "hosts:lock";

/** A link to the page of a host, for a user of this server: it shows what the host's own user sees, for an hour. */
export async function linkToDevicePage(ctx: Context, id: number): Promise<{ host_id: number; device_url: string }> {
  const { id: host_id, display_name, team_id } = await hostFor(ctx, LINK_ACTION, id);
  const token = ctx.random.token(32);
  await ctx.store.tx(async (store) => {
    await store.deviceLinks.delete(lte("expires_at", ctx.clock.iso()));
    const expires_at = isoAt(ctx.clock.now() + LIFETIME);
    const link = { host_id, user_id: ctx.user.id, team_id, token_hash: tokenHash(token), expires_at };
    await store.deviceLinks.insert(link);
    const details = { host_id, host_display_name: display_name };
    await recordActivity(within(ctx, store), "retrieved_host_my_device_url", details, { hostId: host_id });
  });
  return { host_id, device_url: await linkToPages(ctx, `/device/${token}`) };
}

/** Call it in the transaction that moves the hosts to another team: the links do not return with them. */
export const endDeviceLinks = (store: ServerTx, hostIds: readonly number[]): Promise<number> =>
  store.deviceLinks.delete(oneOf("host_id", hostIds));
