import { hours, minutes } from "../core/clock.ts";
import { type Attempts, countCall } from "../rate-limits/attempts.ts";
import type { LimitedBy } from "../rate-limits/shared.ts";

const forgotten: Attempts = { scope: "forgotten password", most: 10, ofAll: 1000, span: hours(1) };
const links: Attempts = { scope: "sign-in by link", most: 10, ofAll: 300, span: minutes(1) };
const resets: Attempts = { scope: "password reset", most: 30, ofAll: 300, span: minutes(1) };

/** Mails for forgotten passwords: ten per hour from one address, and ten per hour to one account. */
export const countForgotten = (ctx: LimitedBy, address: string, email: string): Promise<void> =>
  countCall(ctx, forgotten, address, email);

/** Sign-ins by mailed link: counted separately, with the same limits as sign-ins by password. */
export const countLink = (ctx: LimitedBy, address: string): Promise<void> => countCall(ctx, links, address);

export const countReset = (ctx: LimitedBy, address: string): Promise<void> => countCall(ctx, resets, address);
