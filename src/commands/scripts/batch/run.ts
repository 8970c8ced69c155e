import * as Flags from "@oclif/core/flags";
import { type ScriptBatchRun, scriptBatchesApi } from "../../../api/delivery/script-batches.ts";
import { scriptsApi } from "../../../api/delivery/scripts.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";
import { asShown } from "../../../cli/selection.ts";
import {
  checkChoice,
  choiceFlags,
  type Filters,
  filtersOr,
  namedHosts,
  nameOfShown,
  printSelection,
  type ShownHosts,
  shownNamed,
  shownPicked,
} from "../../../cli/topics/hosts/choice.ts";
import { concludeScriptBatch, waitForScriptBatch } from "../../../cli/topics/scripts/batches.ts";
import { findScript } from "../../../cli/topics/scripts/scripts.ts";
import { timeoutOf, waitFlags } from "../../../cli/wait.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";

export default class ScriptsBatchRun extends ClientCommand {
  static override summary = "Run a saved script on many hosts, at once or later.";
  static override description =
    "Hosts of the script's team are named, or selected by filters, and are fixed when the run is created. For several hosts, you must " +
    "type their number or give --confirm NUMBER. With --wait, the exit code is 0 only if the script ended with 0 on all hosts.";
  static override endpoints = [scriptBatchesApi.create, scriptBatchesApi.get, scriptsApi.list, scriptsApi.get];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = {
    script: Flags.string({ required: true, summary: "Id or name of a saved script.", helpValue: "SCRIPT" }),
    "not-before": Flags.string({ summary: "Earliest time, such as 2027-01-31T22:00:00Z.", helpValue: "TIME" }),
    ...choiceFlags,
    ...waitFlags,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com --script tidy.sh --wait",
    "<%= config.bin %> <%= command.id %> --where 'platform != windows' --script 1 --confirm 2 --not-before 2099-01-31T22:00:00Z",
    "<%= config.bin %> <%= command.id %> --status online --all-hosts --script 1 --dry-run",
  ];

  async run() {
    const { argv, flags } = await this.parse(ScriptsBatchRun);
    const timeout = timeoutOf(flags);
    const script = await findScript(this, flags.script, flags.team);
    const names = argv.map(String);
    const filters = await filtersOr(this, names, flags);
    const scope = filters && { ...filters, team_id: script.team_id ?? 0 };
    const shown = await this.#chosen(scope, names, flags["all-hosts"]);
    const { count } = shown.selection;
    const what = `run ${printable(script.name)} on ${nameOfShown(shown)}`;
    if (flags["dry-run"]) this.trying(what, shown.first);
    if (count > 1) {
      printSelection(this, shown);
      await this.confirmTyped(`Run ${printable(script.name)} on ${plural(count, "host")}?`, String(count));
    }
    const body: ScriptBatchRun = {
      script_id: script.id,
      ...(scope === null ? { host_ids: shown.first.map(({ id }) => id) } : { filters: scope }),
      ...(flags["not-before"] === undefined ? {} : { not_before: flags["not-before"] }),
    };
    const reply = await asShown(shown.selection, (options) => this.call(scriptBatchesApi.create, { body }, options));
    const id = reply.batch_execution_id;
    if (!flags.wait) return this.report(`the run ${id} was created: ${what}`, { ...reply, hosts: count });
    await concludeScriptBatch(this, await waitForScriptBatch(this, id, timeout));
  }

  async #chosen(filters: Filters | null, names: readonly string[], all?: boolean): Promise<ShownHosts> {
    if (filters !== null) {
      const shown = await shownPicked(this, filters, "run_scripts");
      await checkChoice(this, shown.selection.count, all);
      return shown;
    }
    const hosts = await namedHosts(this, names);
    await checkChoice(this, hosts.length, all);
    return shownNamed(hosts);
  }
}
