import { packagesApi } from "../../../api/software/packages.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag, ofTeam } from "../../../cli/flags.ts";
import { packageBody, packageFlags, packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { showUpload } from "../../../cli/upload-progress.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwarePackagesUpload extends ClientCommand {
  static override summary = "Upload a package, which hosts of a team, or those without one, can install.";
  static override description =
    "The title, the version and default scripts are read from the file. For .exe and .tar.gz files, give " +
    "--install-script and --uninstall-script. A large file is uploaded in pieces: run the same command again after an " +
    "interruption, and it continues.";
  static override endpoints = [packagesApi.upload];
  static override args = {
    file: args.required("package: .pkg, .msi, .exe, .deb, .rpm, .tar.gz, .ipa, .sh, .py or .ps1"),
  };
  static override flags = { ...packageTeamFlag, ...packageFlags, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> tool.sh --team Workstations --self-service",
    "<%= config.bin %> <%= command.id %> tool.sh --labels-include-any Loaners --post-install-script check.sh",
  ];

  async run() {
    const { args, flags } = await this.parse(SoftwarePackagesUpload);
    const source = await uploadSource(this.io, args.file, "FILE");
    const fields = { ...(await this.teamFilter(flags.team)), ...(await packageBody(this.io, flags)) };
    const of = ofTeam(flags.team);
    const name = printable(args.file);
    if (flags["dry-run"]) this.trying(`offer ${name} to ${of}`, { file: args.file });
    const body = { ...fields, software: source };
    const { software_package: added } = await showUpload(this, source, (onSent) =>
      this.call(packagesApi.upload, { body }, { onSent }),
    );
    await this.report(`${name} is the package of software title ${added.title_id} for ${of}`, added);
  }
}
