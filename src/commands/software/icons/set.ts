import { titleIconsApi } from "../../../api/software/self-service.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";
import { packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";
import { showUpload } from "../../../cli/upload-progress.ts";
import { printable } from "../../../text/printable.ts";

export default class SoftwareIconsSet extends ClientCommand {
  static override summary = "Set the icon that users of a team's hosts see of a software title.";
  static override description = "A square PNG image of 120 to 1024 pixels. The team has to offer the title.";
  static override endpoints = [titleIconsApi.set];
  static override args = { title: titleArg, file: args.required("image file") };
  static override flags = { ...packageTeamFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 icon.png --team Workstations"];

  async run() {
    const { args, flags } = await this.parse(SoftwareIconsSet);
    const { team_id = 0 } = await this.teamFilter(flags.team);
    const id = await titleNamed(await this.client(), args.title, offered(team_id));
    const icon = await uploadSource(this.io, args.file, "FILE");
    const name = printable(args.file);
    const what = `the icon of software title ${printable(args.title)}`;
    if (flags["dry-run"]) this.trying(`make ${name} ${what}`, { team_id });
    const input = { params: { id }, query: { team_id }, body: { icon } };
    const set = await showUpload(this, icon, (onSent) => this.call(titleIconsApi.set, input, { onSent }));
    await this.report(`${name} is ${what}`, set);
  }
}
