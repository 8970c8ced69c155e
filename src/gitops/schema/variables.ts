// Custom variables in the global file.

import { z } from "zod";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { SECRET_PREFIX, variableDefaultUses, variableUses } from "../../api/settings/variables.ts";
import type { Json } from "../../text/differences.ts";
import { compareTexts } from "../plan/values.ts";
import { name } from "./fields.ts";

export const VariableFile = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_]{1,255}$/, {
      error: "must consist of letters of the English alphabet, digits and underscores, 255 at most",
    })
    .refine((input) => !input.startsWith(SECRET_PREFIX), { error: `is given without the prefix ${SECRET_PREFIX}` }),
  teams: z
    .array(name)
    .max(10_000)
    .nullish()
    .transform((input) => (input ? [...new Set(input.map(inState))].sort(compareTexts) : null))
    .meta({ description: "the teams that may use it, No team for hosts without one; left out: all" }),
  uses: z
    .array(z.enum(variableUses))
    .nullish()
    .transform((input) => variableUses.filter((use) => (input ?? variableDefaultUses).includes(use)))
    .meta({ description: `where it may be used; left out: ${variableDefaultUses.join(", ")}` }),
});

const noTeamNames: ReadonlySet<string> = new Set([NO_TEAM_NAME.toLowerCase(), "unassigned"]);
const inState = (team: string): string => (noTeamNames.has(team.toLowerCase()) ? NO_TEAM_NAME : team);

/** A variable that files list; only the name if other files use the variable, but none lists it. */
export interface CustomVariable {
  readonly name: string;
  readonly teams?: readonly string[] | null;
  readonly uses?: readonly string[];
  readonly isListed?: boolean;
  /** A reference; null if the environment has no value. */
  readonly value?: Json;
}

/** Scope of a variable that no file lists. */
export const firstScope = {
  teams: null,
  uses: variableUses.filter((use) => variableDefaultUses.includes(use)),
} satisfies Json;
