import type { Limit } from "./core/limits.ts";

/** All limits of what hosts, devices and strangers may send, by the area of docs/limits.md in which they stand. */
export const limits: Readonly<Record<string, readonly Limit[]>> = {};
