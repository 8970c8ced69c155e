import { z } from "zod";
import { invalid } from "../../../../platform/core/errors.ts";
import { merge } from "../../../../settings/app-config/merge.ts";
import { checkName } from "../../../../settings/teams/names.ts";
import type { DesiredValue, RequestedChange } from "../../changes.ts";

const TeamValue = z.object({ description: z.string().max(4096) });

export interface DesiredTeam extends DesiredValue {
  readonly description: string;
}

export function readTeam({ action, name, value }: RequestedChange): DesiredTeam {
  if (action === "create" && checkName(name) !== name)
    throw invalid("change.name", "must be in Unicode NFC, without surrounding spaces");
  const team = merge(TeamValue, { description: "" }, value ?? {}, "value") as z.output<typeof TeamValue>;
  return { value: team, description: team.description };
}
