// Agents report in their status log that they could not run a scheduled query (osquery's scheduler.cpp). They repeat it each
// time; that it can be run again is not reported by all of them, so an error that is not repeated is dropped.

import {
  dropErrorsBefore,
  failingQueries,
  type HostErrors,
  planErrors,
  writeErrors,
} from "../../hosts/query-errors/errors.ts";
import type { ResultLine } from "../../platform/agent-protocol/lines.ts";
import { hours, isoAt, minutes, seconds } from "../../platform/core/clock.ts";
import { Batcher } from "../../platform/core/concurrency/batcher.ts";
import type { Services } from "../../platform/core/context.ts";
import type { Job } from "../../platform/core/job.ts";
import { limit } from "../../platform/core/limits.ts";
import type { Plan, PlanCache, PlannedQuery } from "./plan.ts";

const FAILED = "Error executing scheduled query ";
/** Lines in one request. */
export const failureLines = limit({
  what: "lines about failed queries in one log message",
  max: 1_000,
  unit: "entries",
  per: "message",
  beyond: "The rest is ignored.",
});
/** Characters of a message. */
export const failureText = limit({
  what: "message about a failed query",
  max: 4_096,
  unit: "characters",
  beyond: "The rest is cut off.",
});
/** An error that is repeated is recorded again after this time. */
const REFRESH = minutes(30);
/** Hosts in one transaction. */
const BATCH_SIZE = 50;

export class FailureIntake {
  readonly #plans: PlanCache;
  readonly #log: Services["log"];
  readonly #batches: Batcher<HostErrors, null>;

  constructor({ store, clock, log }: Services, plans: PlanCache) {
    this.#plans = plans;
    this.#log = log;
    this.#batches = new Batcher(
      async (reports) => {
        const now = clock.now();
        const plan = await planErrors(store, reports, { at: isoAt(now), repeatedSince: isoAt(now - REFRESH) });
        if (plan !== null) await store.tx((tx) => writeErrors(tx, plan));
        return reports.map(() => null);
      },
      { size: BATCH_SIZE, parallel: 1, key: ({ hostId }) => String(hostId) },
    );
  }

  /** Undefined: no line is about a query. */
  storeFailures(
    { id, teamId }: { readonly id: number; readonly teamId: number | null },
    lines: readonly ResultLine[],
  ): Promise<void> | undefined {
    const failed = lines.slice(0, failureLines.max).flatMap(({ value: { message } }) => {
      const isFailure = typeof message === "string" && message.startsWith(FAILED);
      return isFailure ? message.slice(FAILED.length, FAILED.length + failureText.max) : [];
    });
    return failed.length === 0 ? undefined : this.#store(id, teamId, failed);
  }

  idle(): Promise<void> {
    return this.#batches.idle();
  }

  async #store(hostId: number, teamId: number | null, failed: readonly string[]): Promise<void> {
    const plan = await this.#plans.get();
    const errors = new Map<number, string>();
    for (const text of failed) {
      const failure = failureIn(plan, text);
      if (failure !== null && (failure.query.team_id === null || failure.query.team_id === teamId))
        errors.set(failure.query.id, failure.message);
    }
    if (errors.size === 0) return;
    try {
      await this.#batches.add({ hostId, of: "query_id", errors, succeeded: new Set() });
    } catch (err) {
      // The agent repeats it; its log must not wait for that.
      this.#log.warn({ err, host_id: hostId }, "errors of scheduled queries could not be stored");
    }
  }
}

/** The query whose name the text begins with, and what follows. Names may contain a colon, too. */
function failureIn(plan: Plan, text: string): { readonly query: PlannedQuery; readonly message: string } | null {
  for (let at = text.indexOf(": "); at > 0; at = text.indexOf(": ", at + 1)) {
    const query = plan.named(text.slice(0, at));
    if (query !== null) return { query, message: text.slice(at + 2) };
  }
  return null;
}

/** Deletes the errors of queries that were not repeated for two of their intervals. */
export const queryErrorsJob: Job = {
  name: "query_errors",
  every: hours(1),
  async run({ store, clock }) {
    for (const { id, interval } of await store.queries.getMany(await failingQueries(store))) {
      const lifetime = Math.max(hours(2), 2 * seconds(interval));
      await dropErrorsBefore(store, id, isoAt(clock.now() - lifetime));
    }
  },
};
