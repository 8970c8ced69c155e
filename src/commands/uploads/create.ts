import { uploadText } from "../../api/platform/upload-text.ts";
import { Upload, uploadsApi } from "../../api/platform/uploads.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { failed } from "../../cli/errors.ts";
import { uploadSource } from "../../cli/files/upload.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { sizeText } from "../../cli/output/size.ts";
import { showUpload } from "../../cli/upload-progress.ts";
import { printable } from "../../text/printable.ts";

export default class UploadsCreate extends ClientCommand {
  static override summary = "Upload a file in pieces, for requests that refer to it.";
  static override description =
    "Commands that send large files do this themselves. Lost connections are resumed, and the same command continues " +
    "an upload that was interrupted. In a form of the API, the text upload:ID stands for the file. The upload is " +
    "removed after 24 hours.";
  static override endpoints = [uploadsApi.create, uploadsApi.append];
  static override args = { file: args.required("file to upload") };
  static override flags = { ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> editor.pkg",
    "<%= config.bin %> <%= command.id %> editor.pkg -o json --jq .id",
  ];

  async run() {
    const { args, flags } = await this.parse(UploadsCreate);
    const source = await uploadSource(this.io, args.file, "FILE");
    const { size } = source;
    if (size === null) throw failed("an upload cannot come from stdin", "Give the name of a file.");
    const name = printable(source.name);
    if (flags["dry-run"]) {
      this.trying(`upload ${name} (${sizeText(size)})`, { name: source.name, size });
      await this.call(uploadsApi.create, { body: { name: source.name, size } });
    }
    await this.requireToken();
    const client = await this.client();
    const upload = await showUpload(this, source, (onSent) => client.upload(source, { onSent }));
    await this.report(`${name} is ${uploadText(upload.id)}, until ${upload.expires_at}`, upload, {
      schema: () => Upload,
    });
  }
}
