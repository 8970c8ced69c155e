import { uploadsApi } from "../../api/platform/uploads.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { uploadView } from "../../cli/topics/uploads.ts";

export default class UploadsGet extends ClientCommand {
  static override summary = "Show one of your uploads, and how much of it has arrived.";
  static override endpoints = [uploadsApi.get];
  static override args = { id: args.required("id of the upload") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args } = await this.parse(UploadsGet);
    const { upload } = await this.call(uploadsApi.get, { params: { id: args.id } });
    const { schema, columns } = uploadView(this.relativeTimes, this.io.now());
    await this.printOne(upload, { schema, columns: [...columns, { key: "sha256", header: "sha-256" }] });
  }
}
