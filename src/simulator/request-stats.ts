import { messageOf } from "../text/error-message.ts";
import { Histogram } from "./histogram.ts";
import { RecentErrors } from "./recent-errors.ts";

export interface RequestReport {
  count: number;
  errors: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

/** How the requests of simulated devices went, by what they are for. */
export class RequestStats<Name extends string> {
  readonly names: readonly Name[];
  readonly requests: Record<Name, { latency: Histogram; errors: number }>;
  /** The last few failures, newest last. */
  readonly recentErrors = new RecentErrors();

  constructor(names: readonly Name[]) {
    this.names = names;
    this.requests = Object.fromEntries(names.map((name) => [name, { latency: new Histogram(), errors: 0 }])) as Record<
      Name,
      { latency: Histogram; errors: number }
    >;
  }

  async timed<T>(name: Name, work: () => Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await work();
    } catch (error) {
      this.failed(name, messageOf(error));
      throw error;
    } finally {
      this.requests[name].latency.record(performance.now() - from);
    }
  }

  failed(name: Name, reason: string): void {
    this.requests[name].errors++;
    this.recentErrors.add(name, reason);
  }

  get count(): number {
    return this.names.reduce((sum, name) => sum + this.requests[name].latency.count, 0);
  }

  get errors(): number {
    return this.names.reduce((sum, name) => sum + this.requests[name].errors, 0);
  }

  byRequest(): Record<Name, RequestReport> {
    return Object.fromEntries(
      this.names.map((name) => {
        const { latency, errors } = this.requests[name];
        const [p50, p95, p99] = [0.5, 0.95, 0.99].map((q) => rounded(latency.quantile(q))) as [number, number, number];
        return [name, { count: latency.count, errors, p50, p95, p99, max: rounded(latency.maxMs) }];
      }),
    ) as Record<Name, RequestReport>;
  }
}

/** The table of a report: what was requested at all. */
export const requestRows = (byRequest: Readonly<Record<string, RequestReport>>): string[][] => [
  ["request", "count", "errors", "p50 ms", "p95 ms", "p99 ms", "max ms"],
  ...Object.entries(byRequest)
    .filter(([, { count }]) => count > 0)
    .map(([name, { count, errors, p50, p95, p99, max }]) => [
      name,
      String(count),
      String(errors),
      ...[p50, p95, p99, max].map((ms) => ms.toFixed(1)),
    ]),
];

export const rounded = (value: number): number => Math.round(value * 100) / 100;
