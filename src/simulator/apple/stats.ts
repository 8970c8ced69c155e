import { Histogram } from "../histogram.ts";

/** The kinds of requests that a device makes. */
export const appleRequests = [
  "profile",
  "identity",
  "authenticate",
  "token update",
  "poll",
  "answer",
  "declarations",
  "check out",
] as const;
export type AppleRequest = (typeof appleRequests)[number];

/** Counters for all devices of a run. */
export class AppleStats {
  readonly requests = Object.fromEntries(
    appleRequests.map((name) => [name, { latency: new Histogram(), errors: 0 }]),
  ) as Record<AppleRequest, { latency: Histogram; errors: number }>;
  /** The last few failures, newest last. */
  readonly recentErrors: string[] = [];
  enrolled = 0;
  left = 0;
  acknowledged = 0;
  refused = 0;
  postponed = 0;
  /** Commands that arrived again after the device had done them, because its answer was lost. */
  repeated = 0;
  pushes = 0;
  profilesInstalled = 0;
  declarationsActive = 0;
  keysEscrowed = 0;

  async timed<T>(name: AppleRequest, work: () => Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await work();
    } catch (error) {
      this.failed(name, error instanceof Error ? error.message : String(error));
      throw error;
    } finally {
      this.requests[name].latency.record(performance.now() - from);
    }
  }

  failed(name: AppleRequest, reason: string): void {
    this.requests[name].errors++;
    this.recentErrors.push(`${name}: ${reason.slice(0, 200)}`);
    if (this.recentErrors.length > 8) this.recentErrors.shift();
  }

  get count(): number {
    return appleRequests.reduce((sum, name) => sum + this.requests[name].latency.count, 0);
  }

  get errors(): number {
    return appleRequests.reduce((sum, name) => sum + this.requests[name].errors, 0);
  }
}
