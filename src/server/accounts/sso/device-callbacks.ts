// Sign-ins of users of devices all end at one address, so that the identity provider knows a single one. Each feature
// recognizes its own by the browser's cookie.

import type { Context } from "../../platform/core/context.ts";
import { extensionPoint } from "../../platform/core/extensions.ts";

/** Null for sign-ins that are not its own. */
export type DeviceCallback = (ctx: Context, field: string) => Promise<CallbackOutcome | null>;

export const deviceCallbacks = extensionPoint<DeviceCallback>("sign-ins of devices");

export type CallbackOutcome =
  /** Where the browser goes on, and the header for its cookie. */
  | { readonly to: string; readonly cookie: string }
  /** The sign-in failed: it took too long or was used before, or the response was not accepted. */
  | { readonly isExpired: boolean };

export async function callbackOfOthers(ctx: Context, field: string): Promise<CallbackOutcome | null> {
  for (const finish of ctx.extensions.of(deviceCallbacks)) {
    const outcome = await finish(ctx, field);
    if (outcome !== null) return outcome;
  }
  return null;
}
