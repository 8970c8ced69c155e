// Custom variables: where they may be used, and that their values change. The values come from the environment.
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { SECRET_PREFIX } from "../../api/settings/variables.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import type { Current } from "../desired/current.ts";
import { pick } from "../export/fields.ts";
import type { PlacedItem } from "../files/collect.ts";
import type { Problems } from "../files/problems.ts";
import { anyOf } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { type CustomVariable, firstScope, VariableFile } from "../schema/variables.ts";
import type { Kind } from "./kind.ts";

const KIND = "custom_variable";

function desired(
  variables: readonly PlacedItem<CustomVariable>[],
  current: Current,
  problems: Problems,
  teamsAfter: ReadonlySet<string>,
): Thing[] {
  return variables.map(({ value: { name, teams = null, uses = [], isListed, value = null }, at, place }) => {
    const before = current.value(KIND, null, name);
    const present = isRecord(before) ? (before as { readonly [key: string]: Json }) : null;
    if (value === null && present === null)
      problems.error(
        at,
        `the server has no custom variable ${JSON.stringify(name)}, so its value has to be in the environment: ${SECRET_PREFIX}${name}`,
      );
    for (const team of teams ?? [])
      if (team !== NO_TEAM_NAME && !teamsAfter.has(team))
        problems.error(place("teams"), `the team ${JSON.stringify(team)} will not exist`);
    const scope = isListed
      ? { teams: teams && [...teams], uses: [...uses] }
      : present === null
        ? firstScope
        : pick(present, (key) => key !== "value");
    return { kind: KIND, owner: null, name, value: { ...scope, value: value ?? present?.value ?? { $secret: "" } } };
  });
}

const elsewhere = {
  as: "error",
  message: "custom variables are for all teams: list them in the global file",
} as const;

export const customVariable: Kind<CustomVariable> = {
  noun: "custom variable",
  items: {
    list: "custom_variables",
    notIn: { team: elsewhere, no_team: elsewhere },
    schema: VariableFile,
    isOfAllFiles: true,
    labelFields: [],
    defaults: firstScope,
    inFile: (value) => pick(value, (key) => key !== "value"),
    desired,
  },
  // Whoever leaves one out does not delete a secret.
  isComplete: () => false,
  typesOf: () => anyOf(KIND),
  isAbout: (details, _, change) => details.custom_variable_name === change.name,
};
