import { basename } from "node:path";
import * as Flags from "@oclif/core/flags";
import { profilesApi } from "../../../api/devices/profiles.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { bytesOf } from "../../../cli/files/file-errors.ts";
import { args, dryRunFlag, ofTeam, yesFlag } from "../../../cli/flags.ts";
import { profileTeamFlag } from "../../../cli/topics/mdm/profiles.ts";
import { plural } from "../../../text/plural.ts";

export default class MdmProfilesApply extends ClientCommand {
  static override summary = "Make files the configuration profiles of a team: others are deleted.";
  static override description =
    "A file with the identifier of an existing profile replaces its content. Profiles that are not among the files " +
    "are deleted, and removed from hosts. A .json or .xml file is named after the file. The labels of profiles are not kept: " +
    "use `svc apply` for profiles with labels.";
  static override destructive = true;
  static override endpoints = [profilesApi.batch];
  static override strict = false;
  static override args = { files: args.optional("files: .mobileconfig, .json or .xml") };
  static override flags = {
    ...profileTeamFlag,
    none: Flags.boolean({ summary: "Delete all profiles of the team: no files are given." }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> passcode.json --dry-run",
    "<%= config.bin %> <%= command.id %> passcode.json --team Workstations --yes",
  ];

  async run() {
    const { argv, flags } = await this.parse(MdmProfilesApply);
    const files = argv.map(String);
    if (files.length === 0 && !flags.none)
      throw usage("no files are given", "Name them, or give --none to delete all.");
    if (files.length > 0 && flags.none) throw usage("--none cannot be given with files");
    const configuration_profiles = await Promise.all(files.map(itemOf));
    const query = await this.teamFilter(flags.team);
    const of = ofTeam(flags.team);
    const what = `replace the profiles of ${of} with ${plural(files.length, "file")}`;
    if (flags["dry-run"]) this.trying(what, { files });
    await this.confirm(`${what[0]!.toUpperCase()}${what.slice(1)}?`);
    await this.call(profilesApi.batch, { query, body: { configuration_profiles } });
    await this.report(`replaced the profiles of ${of} with ${plural(files.length, "file")}`, { files });
  }
}

async function itemOf(file: string): Promise<{ profile: string; display_name: string }> {
  const bytes = await bytesOf(file);
  return { profile: bytes.toString("base64"), display_name: basename(file).replace(/\.[A-Za-z0-9]{1,12}$/, "") };
}
