import { type Script, scriptsApi } from "../../../api/delivery/scripts.ts";
import type { ApiClient } from "../../../client/client.ts";
import { nearest } from "../../../text/nearest.ts";
import { shellWord } from "../../../text/shell.ts";
import { notFound } from "../../errors.ts";

/** Where a script is looked up; `team_id` 0 or absent: among those for hosts without a team. */
export interface ScriptScope {
  readonly team_id?: number | undefined;
  /** The team as it was given, or its name; null: no team. */
  readonly team: string | null;
}

/** The saved script with this name, or null and the names that there are. */
export async function scriptNamed(
  client: ApiClient,
  name: string,
  { team_id }: ScriptScope,
): Promise<{ readonly script: Script | null; readonly names: readonly string[] }> {
  const { rows } = await client.all(scriptsApi.list, { query: team_id === undefined ? {} : { team_id } }, "scripts");
  return { script: rows.find((row) => row.name === name) ?? null, names: rows.map((row) => row.name) };
}

/** The error for a name that no script of the scope has. */
export function noScript(name: string, { team }: ScriptScope, names: readonly string[]) {
  const near = nearest(name, names);
  return notFound(
    `there is no script ${name} ${team === null ? "for hosts without a team" : `of team ${team}`}${near ? `; did you mean ${near}?` : ""}`,
    team === null
      ? "`svc scripts list` shows them; `svc scripts list --team TEAM` those of a team."
      : `\`svc scripts list --team ${shellWord(team)}\` shows them.`,
  );
}
