// How a change applies to the settings of the console, on the server and in the browser.
import type { ConsoleChange, ConsoleSettings } from "./user-settings.ts";

export function changedConsole(current: ConsoleSettings, { columns, ...change }: ConsoleChange): ConsoleSettings {
  const lists = columns === null ? {} : merged(current.columns ?? {}, columns ?? {});
  return { ...merged(current, change), columns: lists };
}

/** Absent values stay, and null removes one. */
function merged<T extends object>(current: T, change: { [K in keyof T]?: T[K] | null | undefined }): T {
  const entries = Object.entries({ ...current, ...withoutAbsent(change) }).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as T;
}

const withoutAbsent = (change: object): object =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
