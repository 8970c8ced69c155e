import type { Services } from "../core/context.ts";

export interface Job {
  readonly name: string;
  /** Milliseconds from one start to the next. */
  readonly every: number;
  /** The same where the configuration says it. */
  readonly period?: (services: Pick<Services, "config">) => Promise<number>;
  /** Does the work in short transactions; ends early, with whole steps only, when the signal aborts. */
  run(services: Services, signal: AbortSignal): Promise<void>;
}
