// Request metrics. Incrementing a counter costs as much as answering a poll, so counts are flushed once per second.

import { type EndpointName, endpointNames } from "../../../platform/agent-protocol/wire.ts";
import type { Services } from "../../../platform/core/context.ts";

export interface RequestCounts {
  /** The start time of a sampled request; otherwise 0. */
  start(): number;
  end(endpoint: EndpointName, status: number, started: number): void;
}

const SAMPLED_EVERY = 16;
const FLUSH_MS = 1_000;
const outcomes = ["ok", "invalid", "shed", "error"] as const;

const outcomeOf = (status: number): number =>
  status === 200 ? 0 : status === 401 ? 1 : status === 503 || status === 429 ? 2 : 3;

export function createRequestCounts({ metrics }: Pick<Services, "metrics">): RequestCounts {
  const tallies = new Map(endpointNames.map((endpoint) => [endpoint, outcomes.map(() => 0)]));
  const seconds = new Map(endpointNames.map((endpoint) => [endpoint, metrics.agentSeconds.labels(endpoint)]));
  let count = 0;

  setInterval(() => {
    for (const [endpoint, tally] of tallies)
      tally.forEach((n, i) => {
        if (n === 0) return;
        metrics.agentRequests.inc({ endpoint, outcome: outcomes[i]! }, n);
        tally[i] = 0;
      });
  }, FLUSH_MS).unref();

  return {
    start: () => (++count % SAMPLED_EVERY === 0 ? performance.now() : 0),
    end(endpoint, status, started) {
      tallies.get(endpoint)![outcomeOf(status)]!++;
      if (started !== 0) seconds.get(endpoint)!.observe((performance.now() - started) / 1000);
    },
  };
}
