// Where a custom variable may be used: whoever writes a text that hosts run can read the values in it, so a variable is for
// certain teams and kinds of texts.
import type { VariableUse } from "../../../api/settings/variables.ts";
import { forbiddenFor } from "../../platform/core/errors.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { customVariables } from "./tables.ts";

/** The text in which variables are used. */
export interface TextScope {
  readonly use: VariableUse;
  /** The team of the object with the text, or of the host that gets it. */
  readonly teamId: number | null;
}

type ScopeOfVariable = Pick<RowOf<typeof customVariables>, "team_ids" | "uses">;

export const isInScope = ({ team_ids, uses }: ScopeOfVariable, { use, teamId }: TextScope): boolean =>
  uses.includes(use) && (team_ids === null || team_ids.includes(teamId ?? 0));

const labels: Readonly<Record<VariableUse, string>> = {
  scripts: "saved scripts",
  one_off_scripts: "scripts that are not saved",
  software: "scripts of packages",
  profiles: "configuration profiles",
  host_names: "names of hosts",
};

/** 403 that names what the scope lacks. */
export function outOfScope(written: string, { uses }: ScopeOfVariable, { use, teamId }: TextScope) {
  const where = uses.includes(use)
    ? teamId === null
      ? "for hosts without a team"
      : `in the team with the id ${teamId}`
    : `in ${labels[use]}`;
  const hint = use === "one_off_scripts" ? "; save the script, or" : ";";
  return forbiddenFor(
    `${written} may not be used ${where}${hint} ask someone who may change custom variables to change its scope`,
  );
}
