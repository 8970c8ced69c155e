import * as Flags from "@oclif/core/flags";
import type { ScriptResult, ScriptRun } from "../../api/delivery/scripts.ts";
import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { errorReport, usage } from "../../cli/errors.ts";
import { readText } from "../../cli/files/input.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import type { View } from "../../cli/output/output.ts";
import {
  askIfSelected,
  concludeAll,
  confirmFlag,
  findTargets,
  followAll,
  shortNameOf,
  type Target,
  targetFlags,
} from "../../cli/topics/hosts/targets.ts";
import { noScript, type ScriptScope, scriptNamed } from "../../cli/topics/scripts/find.ts";
import { isScriptPending } from "../../cli/topics/scripts/results.ts";
import { timeoutOf, waitFlags } from "../../cli/wait.ts";
import { ApiCallError } from "../../client/errors.ts";
import { printable } from "../../text/printable.ts";

interface RunOutcome {
  readonly host: string;
  readonly execution_id: string;
  readonly exit_code: number | null;
  readonly output: string;
  readonly message: string;
  readonly state: "pending" | "ended" | "refused";
}

type Chosen = (host: Target) => Omit<ScriptRun, "host_id">;

const view: View = {
  columns: [
    { key: "host" },
    { key: "exit_code", header: "exit code" },
    { key: "message" },
    { key: "output", block: true },
    { key: "execution_id", header: "execution id" },
  ],
};

export default class ScriptsRun extends ClientCommand {
  static override summary = "Run a script on hosts, as soon as they are online.";
  static override description =
    "Runs a saved script of the host's team (--script), or the text of a file (--file), on hosts that are named, or " +
    "selected with --where. With --wait, each host's result is reported as it arrives, and the exit code is 0 only " +
    "if the script ended with 0 on all hosts. `svc scripts batch run` is for many hosts.";
  static override endpoints = [scriptsApi.run, scriptsApi.runSync, scriptsApi.result, scriptsApi.list];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    script: Flags.string({ summary: "Id or name of a saved script of the host's team.", exclusive: ["file"] }),
    file: Flags.string({ summary: "File with the script; - is stdin.", helpValue: "FILE" }),
    online: Flags.boolean({
      summary: "Only if the host is online: the server waits for its result. For one host.",
      exclusive: ["wait"],
    }),
    ...teamFlag,
    ...waitFlags,
    ...targetFlags,
    ...confirmFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com --file cleanup.sh --wait",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --script tidy.sh --online",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --script tidy.sh --dry-run",
    "<%= config.bin %> <%= command.id %> --where 'platform = ubuntu' --script tidy.sh --dry-run",
  ];

  async run() {
    const { argv, flags } = await this.parse(ScriptsRun);
    const timeout = timeoutOf(flags);
    const text = await this.#textOf(flags);
    const names = argv.map(String);
    const hosts = await findTargets(this, names, flags);
    const contents = text ?? (await this.#savedFor(hosts, flags.script!, flags.team));
    if (flags["dry-run"]) this.trying(`run the script on ${shortNameOf(hosts)}`, { hosts: hosts.map(({ id }) => id) });
    await askIfSelected(this, `Run the script on ${shortNameOf(hosts)}?`, names, hosts);
    if (flags.online) return this.#runOnline(hosts, contents);
    const outcomes: RunOutcome[] = [];
    for (const host of hosts) outcomes.push(await this.#begin(host, contents, hosts.length === 1));
    let waited: unknown;
    let now = outcomes;
    if (flags.wait)
      waited = await this.#follow(outcomes, timeout, (seen) => {
        now = seen;
      }).catch((error: unknown) => error);
    await this.printListOrOne(now, view);
    if (waited) throw waited;
    this.#conclude(now, flags.wait);
  }

  /** What is run, if it is not a saved script by name, which depends on the host. */
  async #textOf(flags: { script?: string | undefined; file?: string | undefined }): Promise<Chosen | null> {
    if (flags.file !== undefined) {
      const script_contents = await readText(this.io, flags.file, "--file");
      return () => ({ script_contents });
    }
    if (flags.script === undefined) throw usage("no script is given", "Name one with --script, or a file with --file.");
    const script_id = Number(flags.script);
    return /^\d{1,15}$/.test(flags.script) ? () => ({ script_id }) : null;
  }

  /** The saved script with this name: of --team, or of each host's own team. */
  async #savedFor(hosts: readonly Target[], name: string, team: string | undefined): Promise<Chosen> {
    const client = await this.client();
    const idIn = async (scope: ScriptScope): Promise<number> => {
      const { script, names } = await scriptNamed(client, name, scope);
      if (script === null) throw noScript(name, scope, names);
      return script.id;
    };
    if (team !== undefined) {
      const { team_id } = await this.teamFilter(team);
      const script_id = await idIn({ team_id, team: team_id === 0 ? null : team });
      return () => ({ script_id });
    }
    const ids = new Map<number, number>();
    for (const { team_id, team_name } of hosts)
      if (!ids.has(team_id ?? 0)) ids.set(team_id ?? 0, await idIn({ team_id: team_id ?? 0, team: team_name }));
    return ({ team_id }) => ({ script_id: ids.get(team_id ?? 0)! });
  }

  async #runOnline(hosts: readonly Target[], contents: Chosen): Promise<void> {
    const [host, ...others] = hosts;
    if (host === undefined || others.length > 0) throw usage("--online is for one host", "Use --wait for several.");
    const result = await this.call(scriptsApi.runSync, { body: { ...contents(host), host_id: host.id } });
    const outcome = outcomeOf(printable(host.display_name), result);
    await this.printListOrOne([outcome], view);
    this.#conclude([outcome], true);
  }

  async #begin(host: Target, contents: Chosen, alone: boolean): Promise<RunOutcome> {
    const name = printable(host.display_name);
    try {
      const { execution_id } = await this.call(scriptsApi.run, { body: { ...contents(host), host_id: host.id } });
      const waiting = { exit_code: null, output: "", message: "waiting for the host" };
      return { host: name, execution_id, ...waiting, state: "pending" };
    } catch (error) {
      if (alone || !(error instanceof ApiCallError)) throw error;
      const { message, errors } = errorReport(error);
      const reason = errors[0]?.reason ?? message;
      return { host: name, execution_id: "", exit_code: null, output: "", message: reason, state: "refused" };
    }
  }

  #follow(outcomes: readonly RunOutcome[], timeout: string, report: (now: RunOutcome[]) => void): Promise<void> {
    return followAll(this, outcomes, {
      timeout,
      isOpen: ({ state }) => state === "pending",
      look: (before) => this.#readOutcome(before),
      report,
      going: (hosts) => ({
        what: `the script is still waiting for ${hosts}`,
        hint: "`svc scripts result ID` shows results, `svc hosts cancel` cancels what has not started.",
      }),
    });
  }

  async #readOutcome(before: RunOutcome): Promise<RunOutcome> {
    const { execution_id } = before;
    return outcomeOf(before.host, await this.call(scriptsApi.result, { params: { execution_id } }));
  }

  #conclude(outcomes: readonly RunOutcome[], isOver: boolean | undefined): void {
    const bad = outcomes.filter(({ state, exit_code }) => state === "refused" || (isOver && exit_code !== 0));
    concludeAll(
      outcomes,
      bad.map(({ host, message, exit_code }) => ({ host, reason: message || `exit code ${exit_code}` })),
    );
  }
}

function outcomeOf(host: string, result: ScriptResult): RunOutcome {
  const { execution_id, exit_code, output, message } = result;
  return { host, execution_id, exit_code, output, message, state: isScriptPending(result) ? "pending" : "ended" };
}
