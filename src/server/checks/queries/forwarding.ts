// Selects the result lines that are written to the log destination (docs/protocols/agent.md, Logs).
import type { ResultLine } from "../../platform/agent-protocol/lines.ts";
import type { Plan, PlanCache } from "./plan.ts";

const isWanted = (plan: Plan, { value: { name } }: ResultLine): boolean =>
  typeof name !== "string" || (plan.named(name)?.automations_enabled ?? true);

/** Lines of queries with automations and of queries unknown to this server; all lines if reports are disabled. */
export function createForwarding(plans: PlanCache) {
  const sift = (plan: Plan, lines: readonly ResultLine[]): readonly ResultLine[] => {
    if (!plan.reportsEnabled) return lines;
    for (const line of lines) if (!isWanted(plan, line)) return lines.filter((each) => isWanted(plan, each));
    return lines;
  };
  return (lines: readonly ResultLine[]): readonly ResultLine[] | Promise<readonly ResultLine[]> => {
    const plan = plans.now();
    if (plan) return sift(plan, lines);
    // If the store is unavailable, forward all lines.
    return plans.get().then(
      (read) => sift(read, lines),
      () => lines,
    );
  };
}
