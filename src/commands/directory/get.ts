import { directoryApi } from "../../api/hosts/directory.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { directoryView } from "../../cli/topics/directory.ts";

export default class DirectoryGet extends ClientCommand {
  static override summary = "Show the credentials for the directory, and the result of the last synchronization.";
  static override endpoints = [directoryApi.credentials];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(DirectoryGet);
    const { directory_graph_credentials: rows } = await this.call(directoryApi.credentials);
    if (rows.length === 0) this.note("no credentials are set: `svc directory set` sets them");
    await this.printList(rows, directoryView(this.relativeTimes, this.io.now()));
  }
}
