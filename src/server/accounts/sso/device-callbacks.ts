// Sign-ins of users of devices all end at one address, so that the identity provider knows a single one. Each feature
// recognizes its own by the browser's cookie.
import type { Context } from "../../platform/core/context.ts";

export type CallbackOutcome =
  /** Where the browser goes on, and the header for its cookie. */
  | { readonly to: string; readonly cookie: string }
  /** The sign-in failed: it took too long or was used before, or the response was not accepted. */
  | { readonly isExpired: boolean };

declare module "../../platform/core/extensions.ts" {
  interface Extensions {
    /** Each returns null for sign-ins that are not its own. */
    readonly deviceCallbacks: readonly ((ctx: Context, field: string) => Promise<CallbackOutcome | null>)[];
  }
}

export async function callbackOfOthers(ctx: Context, field: string): Promise<CallbackOutcome | null> {
  for (const finish of ctx.extensions.deviceCallbacks) {
    const outcome = await finish(ctx, field);
    if (outcome !== null) return outcome;
  }
  return null;
}
