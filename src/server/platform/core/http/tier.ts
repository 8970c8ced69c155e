// Checks for fields that only the premium tier has, beside fields that every tier has.
import { type Context, isPremium, licenseExpired } from "../context.ts";
import { type ApiError, licenseRanOut, premiumRequired } from "../errors.ts";

/**
 * Throws 402 if the license key has expired. Call it before a premium feature is turned on or extended; existing
 * settings may stay.
 */
export function checkLicenseRuns(ctx: Pick<Context, "license" | "clock">): void {
  if (licenseExpired(ctx)) throw licenseRanOut(ctx.license.expiration);
}

/** `checkLicenseRuns` that throws `refusal` on the free tier. */
export function needPremium(ctx: Pick<Context, "license" | "clock">, refusal: () => ApiError = premiumRequired): void {
  if (!isPremium(ctx)) throw refusal();
  checkLicenseRuns(ctx);
}

/** Whether premium features may be turned on or extended. */
export const mayAddPremium = (ctx: Pick<Context, "license" | "clock">): boolean =>
  isPremium(ctx) && !licenseExpired(ctx);
