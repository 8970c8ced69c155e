import { basename } from "node:path";
import * as Flags from "@oclif/core/flags";
import { scriptsApi } from "../../api/delivery/scripts.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { bytesOf } from "../../cli/files/file-errors.ts";
import { args, dryRunFlag, ofTeam, yesFlag } from "../../cli/flags.ts";
import { scriptTeamFlag } from "../../cli/topics/scripts/scripts.ts";
import { plural } from "../../text/plural.ts";

export default class ScriptsApply extends ClientCommand {
  static override summary = "Make files the saved scripts of a team: others are deleted.";
  static override description =
    "A file with the name of a saved script replaces its contents. Scripts that are not among the files are deleted. With " +
    "`svc apply`, the scripts of all teams can be kept in files.";
  static override destructive = true;
  static override endpoints = [scriptsApi.replace];
  static override strict = false;
  static override args = { files: args.optional("files: .sh, .py or .ps1") };
  static override flags = {
    ...scriptTeamFlag,
    none: Flags.boolean({ summary: "Delete all saved scripts of the team: no files are given." }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> cleanup.sh --dry-run",
    "<%= config.bin %> <%= command.id %> cleanup.sh --team Workstations --yes",
  ];

  async run() {
    const { argv, flags } = await this.parse(ScriptsApply);
    const files = argv.map(String);
    if (files.length === 0 && !flags.none)
      throw usage("no files are given", "Name them, or give --none to delete all.");
    if (files.length > 0 && flags.none) throw usage("--none cannot be given with files");
    const scripts = await Promise.all(files.map(itemOf));
    const query = await this.teamFilter(flags.team);
    const of = ofTeam(flags.team);
    const what = `replace the saved scripts of ${of} with ${plural(files.length, "file")}`;
    if (flags["dry-run"]) this.trying(what, { files });
    await this.confirm(`${what[0]!.toUpperCase()}${what.slice(1)}?`);
    const reply = await this.call(scriptsApi.replace, { query, body: { scripts } });
    await this.report(`replaced the saved scripts of ${of} with ${plural(files.length, "file")}`, reply);
  }
}

async function itemOf(file: string): Promise<{ name: string; script_contents: string }> {
  const bytes = await bytesOf(file);
  return { name: basename(file), script_contents: bytes.toString("base64") };
}
