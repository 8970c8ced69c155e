// Access tokens of the service account (RFC 7523).
import { SignJWT } from "jose";
import { z } from "zod";
import { minutes } from "../../../core/clock.ts";
import type { Services } from "../../../core/context.ts";
import { fetchVendor } from "../../../core/outbound/fetch.ts";
import { part } from "../../../core/running.ts";
import type { ServiceAccount } from "./account.ts";
import { problemOf } from "./problem.ts";

const SCOPE = "https://www.googleapis.com/auth/androidmanagement";
const LIFETIME_SECONDS = 3600;

const Reply = z.object({ access_token: z.string().min(1).max(16_384), expires_in: z.number().min(1) });

interface Token {
  readonly text: string;
  readonly until: number;
}

/** The account's token. Every server gets its own. */
const tokens = part("tokens of the service account", () => new Map<string, Token>());

type Needs = Pick<Services, "running" | "dryRun" | "settings" | "clock">;

export async function accessToken(services: Needs, account: ServiceAccount): Promise<string> {
  const { running, clock, settings } = services;
  const known = running.of(tokens).get(account.email);
  if (known && known.until > clock.now()) return known.text;
  const issued = Math.floor(clock.now() / 1000);
  const assertion = await new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: "RS256", kid: account.keyId, typ: "JWT" })
    .setIssuer(account.email)
    .setAudience(settings.google_token_url)
    .setIssuedAt(issued)
    .setExpirationTime(issued + LIFETIME_SECONDS)
    .sign(account.key);
  const reply = await fetchVendor(services, settings.google_token_url, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `${new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion })}`,
  });
  if (reply.status !== 200) throw problemOf(reply, "the token service");
  const { access_token: text, expires_in: lasts } = Reply.parse(JSON.parse(reply.body.toString("utf8")));
  running.of(tokens).set(account.email, { text, until: clock.now() + Math.max(0, lasts * 1000 - minutes(1)) });
  return text;
}

/** After the service has refused it. */
export function forgetToken({ running }: Pick<Services, "running">, account: ServiceAccount): void {
  running.of(tokens).delete(account.email);
}
