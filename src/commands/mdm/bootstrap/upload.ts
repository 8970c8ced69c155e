import * as Flags from "@oclif/core/flags";
import { bootstrapApi } from "../../../api/devices/bootstrap.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag, ofTeam, teamFlag } from "../../../cli/flags.ts";
import { showUpload } from "../../../cli/upload-progress.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmBootstrapUpload extends ClientCommand {
  static override summary = "Upload the bootstrap package of a team, or of hosts without one.";
  static override description =
    "Macs that enroll automatically from then on install it first. It has to be a signed distribution package. A large " +
    "file is uploaded in pieces: run the same command again after an interruption, and it continues.";
  static override endpoints = [bootstrapApi.upload];
  static override args = { file: args.required("package (.pkg)") };
  static override flags = {
    ...teamFlag,
    "manual-agent-install": Flags.boolean({ summary: "The package installs the agent.", allowNo: true }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> setup.pkg --team Workstations",
    "<%= config.bin %> <%= command.id %> setup.pkg --manual-agent-install",
  ];

  async run() {
    const { args, flags } = await this.parse(MdmBootstrapUpload);
    const source = await uploadSource(this.io, args.file, "FILE");
    const manual = flags["manual-agent-install"];
    const fields = {
      ...(await this.teamFilter(flags.team)),
      ...(manual === undefined ? {} : { manual_agent_install: manual }),
    };
    const of = ofTeam(flags.team);
    const name = printable(args.file);
    if (flags["dry-run"]) this.trying(`make ${name} the bootstrap package of ${of}`, { file: args.file, ...fields });
    const body = { ...fields, package: source };
    await showUpload(this, source, (onSent) => this.call(bootstrapApi.upload, { body }, { onSent }));
    await this.report(`${name} is the bootstrap package of ${of}`, { file: args.file, ...fields });
  }
}
