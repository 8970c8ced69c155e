// Options and assertions of the soak tests.
import type { SoakArgs } from "../main.ts";

/** What a soak test demands does not hold. */
export class Unmet extends Error {}

export function insist(held: boolean, otherwise: string | (() => string)): asserts held {
  if (!held) throw new Unmet(typeof otherwise === "string" ? otherwise : otherwise());
}

/** The number given as `--name`. */
export function numberOf(args: SoakArgs, name: string, fallback: number): number {
  const value = Number(args[name] ?? fallback);
  insist(Number.isFinite(value) && value >= 0, `--${name} must be a number`);
  return value;
}

export const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** Waits until the condition is true and returns the milliseconds; fails after `limitMs`. */
export async function until(what: string, limitMs: number, isSo: () => Promise<boolean> | boolean): Promise<number> {
  const started = performance.now();
  while (!(await isSo())) {
    insist(performance.now() - started < limitMs, `${what}: not within ${limitMs} ms`);
    await pause(10);
  }
  return Math.round(performance.now() - started);
}

export const between = (least: number, most: number): number => least + Math.random() * (most - least);
