// A custom variable: its value, which is a secret, and where it may be used. Teams are named.

import { z } from "zod";
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import { VariableValue, variableUses } from "../../../../../api/settings/variables.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { checkVariableName, type VariableRow } from "../../../../settings/variables/secrets.ts";
import type { DesiredValue, RequestedChange } from "../../changes.ts";
import { parsed } from "../../parse.ts";
import type { SharedRows } from "../../shared-rows.ts";
import { KEPT, Secret, secretFrom, type Texts, type Thing } from "../../values.ts";

export const KIND = "custom_variable";

const VariableScope = z.strictObject({
  teams: z.array(z.string().max(255)).max(10_000).nullable(),
  uses: z.array(z.enum(variableUses)).max(variableUses.length),
  /** Parsed on its own. */
  value: z.unknown(),
});

export interface DesiredVariable extends DesiredValue {
  /** Names of teams; null: all. */
  readonly teams: readonly string[] | null;
  readonly uses: readonly (typeof variableUses)[number][];
  readonly text: string | typeof KEPT;
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Teams that do not exist any more are left out. */
function namesOf({ teams }: SharedRows, ids: readonly number[]): string[] {
  const names = new Map([[0, NO_TEAM_NAME], ...teams.map(({ id, name }) => [id, name] as const)]);
  return ids.flatMap((id) => names.get(id) ?? []).sort(byText);
}

export const variableThings = (rows: readonly VariableRow[], shared: SharedRows): Thing[] =>
  rows.map(({ name, value, team_ids, uses }) => ({
    kind: KIND,
    owner: null,
    name,
    value: {
      teams: team_ids === null ? null : namesOf(shared, team_ids),
      uses: variableUses.filter((use) => uses.includes(use)),
      value: new Secret(value),
    },
  }));

export function readVariable(_: Context, { name, value }: RequestedChange, texts: Texts): DesiredVariable {
  checkVariableName(name, "change.name");
  const { teams, uses, value: secret } = parsed(VariableScope, value);
  const text = secretFrom(secret, texts, "value.value");
  const whole = {
    teams: teams === null ? null : [...new Set(teams)].sort(byText),
    uses: variableUses.filter((use) => uses.includes(use)),
  };
  if (text !== KEPT) parsed(z.object({ value: VariableValue }), { value: text });
  return { ...whole, text, value: { ...whole, value: text === KEPT ? { $secret: "" } : new Secret(text) } };
}
