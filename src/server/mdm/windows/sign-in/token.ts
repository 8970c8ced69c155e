// What a device gets once its user has signed in and accepted the terms: a note, signed by this server, of who that is.
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { isoAt, minutes } from "../../../core/clock.ts";
import type { Context } from "../../../core/context.ts";
import { serverSecret } from "../../../secrets/service.ts";

/** The device uses it at once: for the rules of certificates, and to enroll. */
const LIFETIME = minutes(10);
const AUDIENCE = "windows enrollment";

const Note = z.object({ email: z.string().min(1), exp: z.number() });

export interface SignedIn {
  readonly email: string;
  /** Seconds since 1970. */
  readonly expires: number;
}

const keyOf = async (ctx: Pick<Context, "store" | "clock" | "random">): Promise<Uint8Array> =>
  Buffer.from(await serverSecret(ctx, AUDIENCE), "base64url");

export const tokenFor = async (ctx: Context, email: string): Promise<string> =>
  new SignJWT({ email, jti: ctx.random.token(16) })
    .setProtectedHeader({ alg: "HS256" })
    .setAudience(AUDIENCE)
    .setExpirationTime(Math.floor((ctx.clock.now() + LIFETIME) / 1000))
    .sign(await keyOf(ctx));

/** Null: the token is not one of this server, or has expired. */
export async function signedInBy(ctx: Context, token: string): Promise<SignedIn | null> {
  try {
    const { payload } = await jwtVerify(token, await keyOf(ctx), {
      audience: AUDIENCE,
      algorithms: ["HS256"],
      currentDate: new Date(isoAt(ctx.clock.now())),
    });
    const { email, exp } = Note.parse(payload);
    return { email, expires: exp };
  } catch {
    return null;
  }
}
