import { logoApi } from "../../../api/settings/logo.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";
import { logoFlags } from "../../../cli/topics/config/logo.ts";
import { showUpload } from "../../../cli/upload-progress.ts";
import { printable } from "../../../text/printable.ts";

export default class ConfigLogoSet extends ClientCommand {
  static override summary = "Upload the organization's logo: a PNG, JPEG, GIF or WebP image.";
  static override endpoints = [logoApi.set];
  static override args = { file: args.required("image file") };
  static override flags = { ...dryRunFlag, ...logoFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> logo.png",
    "<%= config.bin %> <%= command.id %> logo-white.png --mode dark",
  ];

  async run() {
    const { args, flags } = await this.parse(ConfigLogoSet);
    const { mode } = flags;
    const logo = await uploadSource(this.io, args.file, "FILE");
    const name = printable(args.file);
    if (flags["dry-run"]) this.trying(`make ${name} the organization's logo`, { file: args.file, mode });
    await showUpload(this, logo, (onSent) => this.call(logoApi.set, { query: { mode }, body: { logo } }, { onSent }));
    await this.report(`${name} is the organization's logo`, { file: args.file, mode });
  }
}
