// Enrollment by a profile that somebody installs: downloaded by an admin, or by the device's user.

import { countForSecret } from "../../../hosts/enrollment/new-hosts-rate.ts";
import { checkEnrollSecret } from "../../../hosts/enrollment/secret-check.ts";
import type { HostRow } from "../../../hosts/hosts/access.ts";
import { days, minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { badRequest, invalid, limitExceeded } from "../../../platform/core/errors.ts";
import { authorize } from "../../../platform/core/security/access.ts";
import { countCall } from "../../../platform/rate-limits/attempts.ts";
import { getTeamRow } from "../../../settings/teams/access.ts";
import { requireAppleMdm } from "../../gate.ts";
import { enrollmentProfile } from "./profile.ts";

/** A profile that an admin downloads is installed later, on one device. */
const PREPARED = days(7);

/** The team whose secret it is; null: no team. 422 for one that is none, 429 after too many of those. */
export const teamOfSecret = async (ctx: Context, secret: string): Promise<number | null> =>
  (await rightSecret(ctx, secret)).teamId;

async function rightSecret(ctx: Context, secret: string) {
  const check = await checkEnrollSecret(ctx, secret, ctx);
  if ("teamId" in check) return check;
  if (check.wait > 0) throw limitExceeded(check.wait);
  throw invalid("enroll_secret", "is not an enroll secret of this server");
}

interface ManualRequest {
  readonly enroll_secret?: string | undefined;
  /** 0: no team. */
  readonly team_id?: number | undefined;
}

/** For an admin, who gives it to the user of a device. */
export async function manualProfile(
  ctx: Context,
  { enroll_secret: secret, team_id: id }: ManualRequest,
): Promise<Buffer> {
  if (secret !== undefined && id !== undefined)
    throw badRequest("enroll_secret and team_id cannot be combined: both decide the team", "team_id");
  await requireAppleMdm(ctx);
  const teamId = secret === undefined ? id || null : await teamOfSecret(ctx, secret);
  if (teamId === null) authorize(ctx, "enroll_secrets:read", null);
  else await getTeamRow(ctx, "enroll_secrets:read", teamId);
  return enrollmentProfile(ctx, { team_id: teamId, facts: { kind: "manual" }, lifetime: PREPARED });
}

/** Each profile is a row. Many devices of an office may share an address. */
export const PROFILES = { scope: "enrollment profiles", most: 120, ofAll: 3_000, span: minutes(1) };

/** For whoever has an enroll secret. It has to be installed within an hour. */
export async function profileForSecret(ctx: Context, secret: string): Promise<Buffer> {
  await requireAppleMdm(ctx);
  const { teamId: team_id, secretHash } = await rightSecret(ctx, secret);
  await countCall(ctx, PROFILES, ctx.address);
  await countForSecret(ctx, "enrollment profiles", secretHash);
  return enrollmentProfile(ctx, { team_id, facts: { kind: "manual" } });
}

/** For the user of a known host: no other device can use it. */
export async function profileForHost(ctx: Context, host: HostRow): Promise<Buffer> {
  await requireAppleMdm(ctx);
  await countCall(ctx, PROFILES, ctx.address);
  return enrollmentProfile(ctx, {
    team_id: host.team_id,
    host_id: host.id,
    ...(host.hardware_serial === "" ? {} : { hardware_serial: host.hardware_serial }),
    ...(host.uuid === "" ? {} : { hardware_uuid: host.uuid }),
    facts: { kind: "manual" },
  });
}
