import * as Flags from "@oclif/core/flags";
import { packageFields, packagesApi } from "../../../api/software/packages.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { dryRunFlag } from "../../../cli/flags.ts";
import { fieldsOfFlags, plainFlags } from "../../../cli/plain-flags.ts";
import { packageBody, packageFlags, packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";
import { showUpload } from "../../../cli/upload-progress.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwarePackagesUpdate extends ClientCommand {
  static override summary = "Change the package of a software title: its file, scripts, labels, or how users see it.";
  static override description =
    "Installations that wait for hosts are cancelled, unless only self-service, categories or the displayed name " +
    "change. An empty name clears a list: --labels-include-any ''.";
  static override endpoints = [packagesApi.update];
  static override args = { title: titleArg };
  static override flags = {
    ...packageTeamFlag,
    file: Flags.string({ summary: "File that replaces the package.", helpValue: "FILE" }),
    ...packageFlags,
    ...plainFlags(packageFields),
    patch: Flags.boolean({
      summary: "Create a policy that updates the maintained app on hosts with an older version; --no-patch deletes it.",
      allowNo: true,
    }),
    "patch-when-closed": Flags.boolean({
      summary: "That policy updates the app only while it is closed (the default of a new one).",
      allowNo: true,
    }),
    "notify-before-patching": Flags.boolean({
      summary: "That policy notifies users five minutes before.",
      allowNo: true,
    }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --no-self-service",
    "<%= config.bin %> <%= command.id %> 'Mozilla Firefox' --team Workstations --patch --notify-before-patching",
    "<%= config.bin %> <%= command.id %> 1 --team Workstations --file tool.sh",
  ];

  async run() {
    const { args, flags } = await this.parse(SoftwarePackagesUpdate);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const fields = {
      ...(await packageBody(this.io, flags)),
      ...fieldsOfFlags(flags, ["patch", "patch_when_closed", "notify_before_patching"]),
    };
    if (flags.file === undefined && Object.keys(fields).length === 0)
      throw usage("nothing is to be changed", "Give --file, or a flag for what is to change.");
    const source = flags.file === undefined ? null : await uploadSource(this.io, flags.file, "--file");
    const id = await titleNamed(await this.client(), args.title, offered(team_id));
    const what = `the package of software title ${printable(args.title)}`;
    if (flags["dry-run"]) this.trying(`change ${what}`, { team_id });
    const params = { id };
    const body = { team_id, ...fields };
    const { software_installer: changed } = await (source === null
      ? this.call(packagesApi.update, { params, body })
      : showUpload(this, source, (onSent) =>
          this.call(packagesApi.update, { params, body: { ...body, software: source } }, { onSent }),
        ));
    await this.report(`changed ${what}`, changed);
  }
}
