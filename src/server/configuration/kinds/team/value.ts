import { z } from "zod";
import { merge } from "../../../app-config/merge.ts";
import { invalid } from "../../../core/errors.ts";
import { checkName } from "../../../teams/names.ts";
import type { Given, Wanted } from "../../changes.ts";

const TeamValue = z.object({ description: z.string().max(4096) });

export interface TeamWanted extends Wanted {
  readonly description: string;
}

export function readTeam({ action, name, value }: Given): TeamWanted {
  if (action === "create" && checkName(name) !== name)
    throw invalid("change.name", "must be in Unicode NFC, without surrounding spaces");
  const team = merge(TeamValue, { description: "" }, value ?? {}, "value") as z.output<typeof TeamValue>;
  return { value: team, description: team.description };
}
