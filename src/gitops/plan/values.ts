import type { Json } from "./diff.ts";

export const isRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
