// What only the premium tier has, where it is a field beside others that every tier has.
import { type Context, isPremium, licenseExpired } from "./context.ts";
import { type ApiError, licenseRanOut, premiumRequired } from "./errors.ts";

/** Before something of the premium tier that is there is turned on or widened: 402 when the key has run out. What is set may stay. */
export function checkLicenseRuns(ctx: Pick<Context, "license" | "clock">): void {
  if (licenseExpired(ctx)) throw licenseRanOut(ctx.license.expiration);
}

/** The same, and on the free tier the refusal that is given. */
export function needPremium(ctx: Pick<Context, "license" | "clock">, refusal: () => ApiError = premiumRequired): void {
  if (!isPremium(ctx)) throw refusal();
  checkLicenseRuns(ctx);
}

/** Whether more of the premium tier may be had. */
export const mayAddPremium = (ctx: Pick<Context, "license" | "clock">): boolean =>
  isPremium(ctx) && !licenseExpired(ctx);
