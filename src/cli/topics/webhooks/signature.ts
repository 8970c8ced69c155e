// Verifies webhook signatures as a receiver does (Standard Webhooks).
import { createHmac, timingSafeEqual } from "node:crypto";

export type SignatureState = "valid" | "invalid" | "stale" | "missing" | "unchecked";

/** Maximum difference between the clocks of sender and receiver, in seconds. */
const TOLERANCE_SECONDS = 300;

export function checkSignature(
  secret: string | undefined,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Uint8Array,
  now: Date,
): SignatureState {
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = headers;
  if (typeof id !== "string" || typeof at !== "string" || typeof signature !== "string") return "missing";
  if (secret === undefined) return "unchecked";
  const key = Buffer.from(secret.trim().replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${at}.`).update(body).digest();
  const fits = signature.split(" ").some((candidate) => {
    const [version, value = ""] = candidate.split(",");
    const digest = Buffer.from(value, "base64");
    return version === "v1" && digest.length === expected.length && timingSafeEqual(digest, expected);
  });
  if (!fits) return "invalid";
  return Math.abs(now.getTime() / 1000 - Number(at)) <= TOLERANCE_SECONDS ? "valid" : "stale";
}
