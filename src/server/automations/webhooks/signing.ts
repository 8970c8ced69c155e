// Signatures by the Standard Webhooks specification, which prove the sender, the time and the integrity of a request.
import { createHmac } from "node:crypto";
import type { Random } from "../../platform/core/random.ts";

const PREFIX = "whsec_";

export const newSigningSecret = (random: Pick<Random, "token">): string =>
  PREFIX + Buffer.from(random.token(32), "base64url").toString("base64");

/** The three signature headers of a body sent at `at` (epoch ms). */
export function signatureHeaders(secret: string, messageId: string, at: number, body: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${messageId}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": messageId, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
