import { days } from "../../platform/core/clock.ts";
import type { Context } from "../../platform/core/context.ts";

const INVITE_LIFETIME = days(5);

/** Whether an invite has expired. While it has not, nobody else gets an account with its address. */
export const hasExpired = (
  { clock }: Pick<Context, "clock">,
  { created_at }: { readonly created_at: string },
): boolean => clock.now() >= Date.parse(created_at) + INVITE_LIFETIME;
