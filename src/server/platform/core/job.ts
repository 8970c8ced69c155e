import type { Services } from "./context.ts";

export interface Job {
  readonly name: string;
  /** Milliseconds from one start to the next. */
  readonly every: number;
  /** The period if the configuration or a setting defines it. */
  readonly period?: (services: Pick<Services, "config" | "settings">) => Promise<number>;
  /** Jobs that, if requested together with this one, have to end before it starts. */
  readonly after?: readonly string[];
  /** Does the work in short transactions. When the signal aborts, it stops after a complete step. */
  run(services: Services, signal: AbortSignal): Promise<void>;
}
