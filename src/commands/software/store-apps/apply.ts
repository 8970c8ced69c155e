import { storeAppsApi } from "../../../api/delivery/store-apps.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readValue } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag, isNoTeam, teamFlag, yesFlag } from "../../../cli/flags.ts";
import { plural } from "../../../text/plural.ts";

export default class SoftwareStoreAppsApply extends ClientCommand {
  static override summary = "Replace the store apps that a team offers with those of a file.";
  static override description =
    "The file is a list in YAML or JSON: each item has an app_store_id, and what `svc software store-apps update` can set. " +
    "Apps that are not in the file are no longer offered; hosts keep them.";
  static override destructive = true;
  static override endpoints = [storeAppsApi.batch];
  static override flags = { ...teamFlag, ...inputFlag, ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations --input store-apps.yml --yes"];

  async run() {
    const { flags } = await this.parse(SoftwareStoreAppsApply);
    if (flags.input === undefined) throw usage("no file is given", "Give it with --input.");
    const list = await readValue(this.io, flags.input);
    if (!Array.isArray(list)) throw usage(`${flags.input} is not a list of apps`);
    const team = flags.team === undefined || isNoTeam(flags.team) ? null : await this.team(flags.team);
    const whom = team === null ? "hosts without a team" : `team ${team.name}`;
    const query = team === null ? {} : { team_name: team.name };
    const what = `replace the store apps of ${whom} with ${plural(list.length, "app")}`;
    if (flags["dry-run"]) this.trying(what, { file: flags.input });
    await this.confirm(`${what[0]!.toUpperCase()}${what.slice(1)}?`);
    const body = { app_store_apps: list } as { app_store_apps: [] };
    const reply = await this.call(storeAppsApi.batch, { query, body });
    await this.report(`${whom} can install ${plural(reply.app_store_apps.length, "app")}`, reply);
  }
}
