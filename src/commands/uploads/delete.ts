import { uploadsApi } from "../../api/platform/uploads.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class UploadsDelete extends ClientCommand {
  static override summary =
    "Delete an upload: one of yours, or as a global admin that of any user. A file that something uses already is kept.";
  static override destructive = true;
  static override endpoints = [uploadsApi.remove];
  static override args = { id: args.required("id of the upload") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --yes"];

  async run() {
    const { args, flags } = await this.parse(UploadsDelete);
    const { id, name } = (await this.call(uploadsApi.get, { params: { id: args.id } })).upload;
    const what = `upload ${id} (${printable(name)})`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id, name });
    await this.confirm(`Delete ${what}?`);
    await this.call(uploadsApi.remove, { params: { id } });
    await this.report(`deleted ${what}`, { id, name });
  }
}
