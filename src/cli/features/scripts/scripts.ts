// What commands for scripts share.
import { Script, ScriptResult, scriptsApi } from "../../../api/scripts.ts";
import { printable } from "../../../text/printable.ts";
import { notFound } from "../../errors.ts";
import { args } from "../../flags.ts";
import type { View } from "../../output/output.ts";
import { HostsCommand } from "../hosts-command.ts";
import { profileTeamFlag } from "../profiles.ts";

export const scriptArg = args.required("id, or name within the team, of the script");
export const scriptTeamFlag = profileTeamFlag;

export const scriptView: View = {
  schema: Script,
  columns: [
    { key: "id" },
    { key: "name" },
    { key: "created_at", header: "saved" },
    { key: "updated_at", header: "changed" },
  ],
};

export const resultView: View = {
  schema: ScriptResult,
  columns: [
    { key: "hostname", header: "host" },
    { key: "exit_code", header: "exit code" },
    { key: "runtime", header: "seconds" },
    { key: "message" },
    { key: "output", text: (text) => printable(String(text)) },
    { key: "execution_id", header: "execution id" },
  ],
};

export abstract class ScriptsCommand extends HostsCommand {
  /** Finds a script by name within the given team, or by id in any. */
  protected async script(text: string, team: string | undefined): Promise<Script> {
    const query = await this.teamFilter(team);
    const { rows } = await (await this.client()).all(scriptsApi.list, { query }, "scripts");
    const named = rows.find(({ name }) => name === text);
    if (named) return named;
    if (/^\d{1,15}$/.test(text)) {
      const script = await this.call(scriptsApi.get, { params: { id: Number(text) } });
      if ("id" in script) return script;
    }
    throw notFound(
      `there is no script ${text}${team === undefined ? " for hosts without a team" : " of that team"}`,
      "`svc scripts list` shows them; a team's need --team.",
    );
  }
}
