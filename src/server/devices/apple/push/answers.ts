// What the answers of the push service mean. A push is only a hint to connect: an answer never changes a command.
import { minutes, seconds } from "../../../platform/core/clock.ts";

/** The answer to one push. `reason` is the service's word, such as `BadDeviceToken`. */
export interface PushAnswer {
  /** 0: there was no answer. */
  readonly status: number;
  readonly reason: string;
  /** With status 410: since when the token is invalid, in milliseconds since 1970. */
  readonly since: number | null;
}

export type PushOutcome =
  | { readonly kind: "accepted" }
  /** The device cannot be reached with this token. It will send another one. */
  | { readonly kind: "token_invalid" }
  /** The service refuses the push certificate, and so all pushes. */
  | { readonly kind: "certificate_refused" }
  /** Try again after this time in milliseconds. */
  | { readonly kind: "later"; readonly after: number; readonly reconnect: boolean }
  /** Something is wrong with this push. It is repeated with the next reminder. */
  | { readonly kind: "rejected" };

export const unanswered = (reason: string): PushAnswer => ({ status: 0, reason, since: null });

const invalidTokens: ReadonlySet<string> = new Set(["BadDeviceToken", "DeviceTokenNotForTopic", "MissingDeviceToken"]);

const TOO_MANY = minutes(5);
const UNAVAILABLE = seconds(15);

/** `tokenAt`: when the device sent its token, in milliseconds since 1970. */
export function outcomeOf({ status, reason, since }: PushAnswer, tokenAt: number): PushOutcome {
  if (status === 200) return { kind: "accepted" };
  if (status === 400 && invalidTokens.has(reason)) return { kind: "token_invalid" };
  if (status === 403) return { kind: "certificate_refused" };
  // A token that the device has sent after that time is another one, or it is valid again.
  if (status === 410) return since !== null && tokenAt > since ? { kind: "rejected" } : { kind: "token_invalid" };
  if (status === 429) return { kind: "later", after: TOO_MANY, reconnect: false };
  if (status === 0 || status >= 500) return { kind: "later", after: UNAVAILABLE, reconnect: status !== 0 };
  return { kind: "rejected" };
}
