// A device uses the address of the SCEP proxy that a profile has given it.
import { textIn } from "../../certificates/ca/rules.ts";
import type { OpenChallenge } from "../../certificates/certificates/challenges.ts";
import { days } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { and, eq } from "../../platform/store/query.ts";
import { isProxied } from "./authorities.ts";
import { applyEvents } from "./host-rows.ts";
import { notifyProfiles } from "./part.ts";
import { type HostProfileRow, platformOf } from "./platform.ts";

interface ProxyRequest {
  readonly host_uuid: string;
  readonly profile_uuid: string;
  readonly ca_name: string;
  readonly secret: string;
}

/** How long after it got the profile a device may ask for its certificate. */
const LATER = days(1);

function isEnrolling(ctx: Context, { platform, operation_type, status, installed_after }: HostProfileRow): boolean {
  if (!platformOf(ctx, platform).enrollsLater || operation_type !== "install" || installed_after === null) return false;
  const isDone = status === "verifying" || status === "verified";
  return isDone && ctx.clock.now() < Date.parse(installed_after) + LATER;
}

/**
 * Null if the device was not sent such an address, or its profile is installed already. If it has used the address
 * before, it gets the profile again, with a new one.
 */
export async function openProfileChallenge(
  ctx: Context,
  { host_uuid, profile_uuid, ca_name, secret }: ProxyRequest,
): Promise<OpenChallenge | null> {
  const { store } = ctx;
  const row = await store.profileChallenges.first({ where: eq("secret_hash", tokenHash(secret)) });
  if (row === null || row.profile_uuid !== profile_uuid) return null;
  const [host, authority, profile] = await Promise.all([
    store.hosts.get(row.host_id),
    store.certificateAuthorities.get(row.ca_id),
    store.hostProfiles.first({ where: and(eq("host_id", row.host_id), eq("profile_uuid", profile_uuid)) }),
  ]);
  if (host?.uuid !== host_uuid || authority?.name !== ca_name || !isProxied(authority.type)) return null;
  if (!profile || !(profile.status === "pending" || isEnrolling(ctx, profile))) return null;
  if (row.used) {
    if (profile.status !== "pending") return null;
    await store.tx((tx) => applyEvents({ ...ctx, store: tx }, [{ row: profile, event: { type: "changed" } }]));
    await notifyProfiles(store, { hostIds: [row.host_id] });
    return null;
  }
  const where = and(eq("id", row.id), eq("secret_hash", row.secret_hash), eq("used", false));
  return {
    url: textIn(authority.settings, "url"),
    use: async () => (await store.profileChallenges.update({ where, set: { used: true } })) === 1,
  };
}
