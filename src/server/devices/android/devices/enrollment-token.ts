// Tokens with which Android devices enroll. The vendor returns what this server has written into them with each device
// that has used one: a signed note of the team, so that nothing has to be stored for those that are never used.
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import type { AndroidEnrollment } from "../../../../api/devices/android.ts";
import { countForSecret } from "../../../hosts/enrollment/new-hosts-rate.ts";
import { checkEnrollSecret } from "../../../hosts/enrollment/secret-check.ts";
import { days, isoAt } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { invalid, limitExceeded } from "../../../platform/core/errors.ts";
import { serverSecret } from "../../../platform/shared-rows/secrets.ts";
import { DEFAULT_POLICY, requireEnterprise } from "../enterprise/enterprise.ts";
import { androidClient } from "../management/client.ts";
import { orUpstreamError } from "../management/problem.ts";

const TOKEN_SECONDS = 3600;
/** A device may enroll at the end of the hour, and its message may be delayed. */
const NOTE_LASTS = days(8);
const AUDIENCE = "android enrollment";

const Note = z.object({ team: z.int().nullable() });

const keyOf = async (ctx: Pick<Context, "store" | "clock" | "random">): Promise<Uint8Array> =>
  Buffer.from(await serverSecret(ctx, AUDIENCE), "base64url");

interface TokenRequest {
  readonly enroll_secret: string;
  readonly fully_managed: boolean;
}

export async function createEnrollmentToken(ctx: Context, request: TokenRequest): Promise<AndroidEnrollment> {
  const check = await checkEnrollSecret(ctx, request.enroll_secret, ctx);
  if ("wait" in check) {
    if (check.wait > 0) throw limitExceeded(check.wait);
    throw invalid("enroll_secret", "is not an enroll secret of this server");
  }
  const { name } = await requireEnterprise(ctx);
  await countForSecret(ctx, "enrollment tokens", check.secretHash);
  const note = await new SignJWT({ team: check.teamId })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(AUDIENCE)
    .setExpirationTime(Math.floor((ctx.clock.now() + NOTE_LASTS) / 1000))
    .sign(await keyOf(ctx));
  const { value, qrCode } = await orUpstreamError(() =>
    androidClient(ctx).createToken(name, {
      policyName: `${name}/policies/${DEFAULT_POLICY}`,
      additionalData: note,
      isPersonal: !request.fully_managed,
      seconds: TOKEN_SECONDS,
    }),
  );
  return {
    android_enrollment_token: value,
    android_enrollment_url: `https://enterprise.google.com/android/enroll?${new URLSearchParams({ et: value })}`,
    android_enrollment_qrcode: qrCode,
  };
}

/** The team that a device joins; undefined: its token is not one of this server, or its team was deleted. */
export async function teamOfNote(ctx: Context, note: string): Promise<number | null | undefined> {
  try {
    const { payload } = await jwtVerify(note, await keyOf(ctx), {
      audience: AUDIENCE,
      algorithms: ["HS256"],
      currentDate: new Date(isoAt(ctx.clock.now())),
    });
    const { team } = Note.parse(payload);
    return team === null || (await ctx.store.teams.get(team)) ? team : undefined;
  } catch {
    return undefined;
  }
}
