// A token with which a device enrolls, signed by this server. It states who has signed in on the device and accepted the
// terms, or which host's agent has asked for it with a signed request: a key alone may be a copy, and the system's own
// messages cannot be signed with the host's identity.
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { isoAt, minutes } from "../../../platform/core/clock.ts";
import type { Context } from "../../../platform/core/context.ts";
import { serverSecret } from "../../../platform/shared-rows/secrets.ts";

/** The device uses it at once: for the rules of certificates, and to enroll. */
const LIFETIME = minutes(10);
const AUDIENCE = "windows enrollment";

const Note = z.union([z.strictObject({ email: z.string().min(1) }), z.strictObject({ host_id: z.int().positive() })]);
/** The user who has signed in, or the host whose agent has asked. */
type TokenSubject = z.output<typeof Note>;

interface EnrollmentToken {
  readonly subject: TokenSubject;
  /** Seconds since 1970. */
  readonly expires: number;
}

const keyOf = async (ctx: Pick<Context, "store" | "clock" | "random">): Promise<Uint8Array> =>
  Buffer.from(await serverSecret(ctx, AUDIENCE), "base64url");

export const tokenFor = async (
  ctx: Pick<Context, "store" | "clock" | "random">,
  subject: TokenSubject,
): Promise<string> =>
  new SignJWT({ ...subject, jti: ctx.random.token(16) })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(AUDIENCE)
    .setExpirationTime(Math.floor((ctx.clock.now() + LIFETIME) / 1000))
    .sign(await keyOf(ctx));

/** Null: the token is not one of this server, or has expired. */
export async function subjectOf(ctx: Context, token: string): Promise<EnrollmentToken | null> {
  try {
    const { payload } = await jwtVerify(token, await keyOf(ctx), {
      audience: AUDIENCE,
      algorithms: ["HS256"],
      currentDate: new Date(isoAt(ctx.clock.now())),
    });
    const { exp, jti: _id, aud: _audience, ...subject } = payload;
    return { subject: Note.parse(subject), expires: z.number().parse(exp) };
  } catch {
    return null;
  }
}
