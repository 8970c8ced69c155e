import { eulaApi } from "../../../api/devices/eula.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { uploadSource } from "../../../cli/files/upload.ts";
import { args, dryRunFlag } from "../../../cli/flags.ts";
import { showUpload } from "../../../cli/upload-progress.ts";
import { printable } from "../../../text/printable.ts";

export default class MdmEulaUpload extends ClientCommand {
  static override summary = "Upload the license agreement that users see before their device enrolls: a PDF file.";
  static override endpoints = [eulaApi.upload];
  static override args = { file: args.required("PDF file") };
  static override flags = { ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> agreement.pdf"];

  async run() {
    const { args, flags } = await this.parse(MdmEulaUpload);
    const eula = await uploadSource(this.io, args.file, "FILE");
    const name = printable(args.file);
    if (flags["dry-run"]) this.trying(`make ${name} the license agreement`, { file: args.file });
    await showUpload(this, eula, (onSent) => this.call(eulaApi.upload, { body: { eula } }, { onSent }));
    await this.report(`${name} is the license agreement`, { file: args.file });
  }
}
