// Protection against forged forms: each form carries a token bound to the browser's session, and the origin of the
// request is checked.
import { createHmac } from "node:crypto";
import { CachedValue } from "../../platform/core/concurrency/cached.ts";
import { ApiError, unsupportedMediaType } from "../../platform/core/errors.ts";
import { type BodySource, formFields, readBytes } from "../../platform/core/http/body.ts";
import { sameText } from "../../platform/core/random.ts";
import { part } from "../../platform/core/running.ts";
import { serverSecret } from "../../platform/shared-rows/secrets.ts";

const FORM_MAX = 64 * 1024;
export const FORM_FIELD = "form_token";

/** The key for form tokens, shared by all servers. It never changes, so it is read only once. */
export const formKey = part(
  "key for form tokens",
  (services) => new CachedValue(() => serverSecret(services, "web_forms")),
);

/** A token bound to the session, or to the form cookie without a session. Neither can be derived from it. */
export const tokenOf = (key: string, kind: "session" | "form", value: string): string =>
  createHmac("sha256", key).update(`${kind} ${value}`).digest("base64url");

export const rightToken = (token: string, expected: string): boolean => sameText(token, expected);

/**
 * Whether the browser reports that the form came from another site. Without either header (old browsers) only the
 * token is checked. The same applies to the origin `null`, which browsers send because these pages suppress the
 * referrer.
 */
export function cameFromElsewhere(request: { headers: Pick<Headers, "get"> }, serverUrl: string): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return true;
  const origin = request.headers.get("origin");
  if (origin === null || origin === "null") return false;
  if (!URL.canParse(origin)) return true;
  const { host } = new URL(origin);
  const ownHosts = [request.headers.get("host"), URL.canParse(serverUrl) ? new URL(serverUrl).host : null];
  return !ownHosts.includes(host);
}

export const formRefused = (why: string): ApiError =>
  new ApiError(403, "The form was not accepted", [{ name: "base", reason: why }]);

export async function readForm(request: Request, from: BodySource): Promise<URLSearchParams> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded")
    throw unsupportedMediaType("Content-Type must be application/x-www-form-urlencoded");
  const bytes = await readBytes(request.body, request.headers.get("content-encoding"), FORM_MAX, from);
  return formFields(bytes);
}
