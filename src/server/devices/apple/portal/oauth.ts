// Signs requests with OAuth 1.0a, HMAC-SHA1 (RFC 5849), which the portal requires to open a session.
import { createHmac } from "node:crypto";
import { compareText } from "../../../platform/store/rows.ts";

export interface OauthCredentials {
  readonly consumer_key: string;
  readonly consumer_secret: string;
  readonly access_token: string;
  readonly access_secret: string;
}

/** Percent-encoding of RFC 5849, 3.6: stricter than that of URLs. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

interface OauthRequest {
  readonly method: string;
  readonly url: string;
  readonly nonce: string;
  /** Seconds. */
  readonly timestamp: number;
}

/** The value of the Authorization header. */
export function oauthHeader(credentials: OauthCredentials, { method, url, nonce, timestamp }: OauthRequest): string {
  const parameters: [string, string][] = [
    ["oauth_consumer_key", credentials.consumer_key],
    ["oauth_nonce", nonce],
    ["oauth_signature_method", "HMAC-SHA1"],
    ["oauth_timestamp", String(timestamp)],
    ["oauth_token", credentials.access_token],
    ["oauth_version", "1.0"],
  ];
  const { origin, pathname, searchParams } = new URL(url);
  const all = [...parameters, ...searchParams].map(([name, value]): [string, string] => [
    encoded(name),
    encoded(value),
  ]);
  // Sorted by the encoded name, then by the encoded value (RFC 5849, 3.4.1.3.2).
  const sorted = all
    .sort(([name, value], [other, its]) => compareText(name, other) || compareText(value, its))
    .map(([name, value]) => `${name}=${value}`)
    .join("&");
  const base = [method.toUpperCase(), encoded(`${origin}${pathname}`), encoded(sorted)].join("&");
  const key = `${encoded(credentials.consumer_secret)}&${encoded(credentials.access_secret)}`;
  const signature = createHmac("sha1", key).update(base).digest("base64");
  const fields = [...parameters, ["oauth_signature", signature] as const]
    .map(([name, value]) => `${name}="${encoded(value)}"`)
    .join(", ");
  return `OAuth realm="ADM", ${fields}`;
}
