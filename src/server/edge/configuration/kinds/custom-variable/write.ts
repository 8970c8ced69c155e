import { isDeepStrictEqual } from "node:util";
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import type { SecretVariable } from "../../../../../api/settings/variables.ts";
import { isRecord } from "../../../../../text/record.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { setVariables, type VariableRow } from "../../../../settings/variables/secrets.ts";
import { refusal, type Step } from "../../changes.ts";
import { KEPT, keyOf } from "../../values.ts";
import { count, type Work } from "../../work.ts";
import type { DesiredVariable } from "./value.ts";

export async function writeVariables(
  work: Work,
  rows: readonly VariableRow[],
  steps: readonly Step<DesiredVariable>[],
): Promise<void> {
  const present = new Map(rows.map((row) => [row.name, row]));
  const changed = steps.filter((step) => !isPresent(work, present.get(step.name), step));
  await setVariables(
    work.ctx,
    changed.map((step) => variableOf(work, present.get(step.name), step)),
  );
  count(work, changed);
}

function isPresent(
  work: Work,
  row: VariableRow | undefined,
  { desired: { teams, uses, text } }: Step<DesiredVariable>,
) {
  if (row === undefined) return false;
  return (
    (text === KEPT || text === row.value) &&
    isDeepStrictEqual(teams, teamsNow(work, row)) &&
    uses.length === row.uses.length &&
    uses.every((use) => row.uses.includes(use))
  );
}

/** The names that the state shows. */
function teamsNow({ current }: Work, { name }: VariableRow): unknown {
  const value = current.get(keyOf({ kind: "custom_variable", owner: null, name }))?.value;
  return isRecord(value) ? value.teams : null;
}

function variableOf(work: Work, row: VariableRow | undefined, step: Step<DesiredVariable>): SecretVariable {
  const { teams, uses, text } = step.desired;
  const value = text === KEPT ? row?.value : text;
  if (value === undefined) throw refusal(step, invalid("value.value", "is required for a new variable"));
  const team_ids = row && isDeepStrictEqual(teams, teamsNow(work, row)) ? row.team_ids : idsOf(work, teams, step);
  return { name: step.name, value, team_ids: team_ids === null ? null : [...team_ids], uses: [...uses] };
}

function idsOf({ teams }: Work, names: readonly string[] | null, step: Step<DesiredVariable>): number[] | null {
  if (names === null) return null;
  return names.map((name, i) => {
    const id = name === NO_TEAM_NAME ? 0 : teams.get(name)?.id;
    if (id === undefined) throw refusal(step, invalid(`value.teams.${i}`, `there is no team ${JSON.stringify(name)}`));
    return id;
  });
}
