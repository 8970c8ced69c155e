import type { ReactElement } from "react";
import type { LiveStatus } from "../../../../api/inventory/live-queries.ts";
import { counted, formatted } from "../../../parts/counted.ts";
import type { LiveResults } from "./live-results.ts";

interface Outcome {
  readonly name: string;
  readonly count: number;
  readonly tone: "rows" | "empty-answer" | "failed" | "off" | "wait";
}

/** The targets by what became of them. Targets that are neither done nor expected to answer are offline. */
function outcomesOf(status: LiveStatus): readonly Outcome[] {
  const { counts, expected_left: waiting } = status;
  const done = counts.answered + counts.error + counts.timed_out + counts.cancelled;
  const outcomes: readonly Outcome[] = [
    { name: "answered with rows", count: status.count_of_hosts_with_results, tone: "rows" },
    { name: "answered without rows", count: status.count_of_hosts_with_no_results, tone: "empty-answer" },
    { name: "error", count: counts.error, tone: "failed" },
    { name: "offline", count: Math.max(0, counts.targets - done - waiting), tone: "off" },
    { name: "waiting", count: waiting, tone: "wait" },
  ];
  const ended: readonly Outcome[] = [
    { name: "no answer in time", count: counts.timed_out, tone: "failed" },
    { name: "cancelled", count: counts.cancelled, tone: "off" },
  ];
  return [...outcomes, ...ended.filter(({ count }) => count > 0)];
}

/** How many hosts have answered, with the same as text. */
export function OutcomeBar({ results: { status, totals } }: { readonly results: LiveResults }): ReactElement {
  if (status === null) return <p className="quiet">{totals === null ? "" : counted(totals.count, "target")}</p>;
  const outcomes = outcomesOf(status);
  const all = Math.max(1, status.counts.targets);
  const label = outcomes.map(({ name, count }) => `${formatted(count)} ${name}`).join(", ");
  return (
    <div className="outcomes">
      <div role="img" aria-label={`${counted(status.counts.targets, "host")}: ${label}`} className="outcome-bar">
        {outcomes
          .filter(({ count }) => count > 0)
          .map(({ name, count, tone }) => (
            <span key={name} className={tone} style={{ flexGrow: count / all }} />
          ))}
      </div>
      <ul className="inline-list">
        {outcomes.map(({ name, count, tone }) => (
          <li key={name}>
            <span className={`key ${tone}`} aria-hidden="true" /> {formatted(count)} {name}
          </li>
        ))}
      </ul>
    </div>
  );
}
