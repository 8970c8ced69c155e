import { uploadsApi } from "../../api/platform/uploads.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { uploadView } from "../../cli/topics/uploads.ts";

export default class UploadsList extends ClientCommand {
  static override summary =
    "List your uploads, complete and interrupted ones; as a global admin with --all-users those of all users.";
  static override endpoints = [uploadsApi.list];
  static override flags = { ...queryFlags(uploadsApi.list), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --all-users --order-key size --order-direction desc",
  ];

  async run() {
    const { flags } = await this.parse(UploadsList);
    const uploads = this.pages(uploadsApi.list, { query: queryOf(uploadsApi.list, flags) }, "uploads");
    await this.printList(uploads, uploadView(this.relativeTimes, this.io.now(), flags["all-users"] === true));
  }
}
