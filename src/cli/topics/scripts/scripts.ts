// What commands for scripts share.

import { Script, ScriptResult, scriptsApi } from "../../../api/delivery/scripts.ts";
import type { ClientCommand } from "../../client-command.ts";
import { args } from "../../flags.ts";
import type { View } from "../../output/output.ts";
import { profileTeamFlag } from "../mdm/profiles.ts";
import { noScript, scriptNamed } from "./find.ts";

export const scriptArg = args.required("id, or name within the team, of the script");
export const scriptTeamFlag = profileTeamFlag;

export const scriptView: View = {
  schema: () => Script,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "created_at", header: "saved" },
    { key: "updated_at", header: "changed" },
  ],
};

export const resultView: View = {
  schema: () => ScriptResult,
  columns: [
    { key: "hostname", header: "host" },
    { key: "exit_code", header: "exit code" },
    { key: "runtime", header: "seconds" },
    { key: "message" },
    { key: "output", block: true },
    { key: "execution_id", header: "execution id" },
  ],
};

/** Finds a script by name within the given team, or by id in any. */
export async function findScript(command: ClientCommand, text: string, team: string | undefined): Promise<Script> {
  const { team_id } = await command.teamFilter(team);
  const scope = { team_id, team: team === undefined || team_id === 0 ? null : team };
  const { script: named, names } = await scriptNamed(await command.client(), text, scope);
  if (named) return named;
  if (/^\d{1,15}$/.test(text)) {
    const script = await command.call(scriptsApi.get, { params: { id: Number(text) } });
    if ("id" in script) return script;
  }
  throw noScript(text, scope, names);
}
