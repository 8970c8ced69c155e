// The table of an agent's tables. It is the same for all agents of a platform and version, and a server asks each of
// them many questions about it: which of its queries can run.
import type { SqlAnswer } from "../sql/answer.ts";
import type { SqlRow } from "../sql/execute.ts";
import type { Machine } from "./machine.ts";

interface Registry {
  rows: readonly SqlRow[] | null;
  readonly answers: Map<string, SqlAnswer>;
}

const ANSWERS_MAX = 1_000;
const registries = new Map<string, Registry>();

function registryOf({ platform, agentVersion, managed }: Machine): Registry {
  const kind = `${platform.family} ${agentVersion} ${managed}`;
  let registry = registries.get(kind);
  if (registry === undefined) {
    registry = { rows: null, answers: new Map() };
    registries.set(kind, registry);
  }
  return registry;
}

export function registryRows(machine: Machine, make: () => readonly SqlRow[]): readonly SqlRow[] {
  const registry = registryOf(machine);
  registry.rows ??= make();
  return registry.rows;
}

/** No other table, and no function that might give another value each time. */
const IS_ABOUT_REGISTRY = /^SELECT 1 FROM osquery_registry WHERE [\w\s='.]+;?$/i;

/** The answer to a discovery query. Those about the registry alone are remembered. */
export function discoveryAnswer(sql: string, machine: Machine, answer: (sql: string) => SqlAnswer): SqlAnswer {
  if (!IS_ABOUT_REGISTRY.test(sql)) return answer(sql);
  const { answers } = registryOf(machine);
  const cached = answers.get(sql);
  if (cached !== undefined) return cached;
  const sqlAnswer = answer(sql);
  if (answers.size < ANSWERS_MAX) answers.set(sql, sqlAnswer);
  return sqlAnswer;
}
