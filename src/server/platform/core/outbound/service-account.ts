// Access tokens of service accounts (RFC 7523): a signed statement is exchanged at the token service.
import type { KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { z } from "zod";
import { minutes, seconds } from "../clock.ts";
import type { Services } from "../context.ts";
import { fetchVendor, type OutboundReply } from "./fetch.ts";
import { jsonOf } from "./reply.ts";

export interface ServiceAccount {
  readonly email: string;
  /** Empty: not named. */
  readonly keyId: string;
  readonly key: KeyObject;
}

interface TokenRequest {
  readonly scope: string;
  /** The user on whose behalf the account acts; without one, it acts on its own. */
  readonly subject?: string;
}

export interface AccessToken {
  readonly text: string;
  /** Milliseconds since 1970; a minute before the service stops accepting it. */
  readonly until: number;
}

const LIFETIME_SECONDS = 3600;

const Reply = z.object({ access_token: z.string().min(1).max(16_384), expires_in: z.number().min(1) });

/** The token, or the reply of the service if it gives none. Throws `OutboundError` if there is no reply. */
export async function askForToken(
  services: Pick<Services, "running" | "dryRun" | "settings" | "clock">,
  { email, keyId, key }: ServiceAccount,
  { scope, subject }: TokenRequest,
): Promise<{ token: AccessToken } | { refusal: OutboundReply }> {
  const { clock, settings } = services;
  const issued = Math.floor(clock.now() / 1000);
  const statement = new SignJWT({ scope })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", ...(keyId === "" ? {} : { kid: keyId }) })
    .setIssuer(email)
    .setAudience(settings.google_token_url)
    .setIssuedAt(issued)
    .setExpirationTime(issued + LIFETIME_SECONDS);
  if (subject !== undefined) statement.setSubject(subject);
  const assertion = await statement.sign(key);
  const reply = await fetchVendor(services, settings.google_token_url, {
    method: "POST",
    isRead: true,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `${new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion })}`,
  });
  const parsed = reply.status === 200 ? Reply.safeParse(jsonOf(reply)) : null;
  if (!parsed?.success) return { refusal: reply };
  const { access_token: text, expires_in: lasts } = parsed.data;
  return { token: { text, until: clock.now() + Math.max(0, seconds(lasts) - minutes(1)) } };
}
