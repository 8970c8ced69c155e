import { directoryApi } from "../../api/hosts/directory.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";

export default class DirectoryDelete extends ClientCommand {
  static override summary = "Delete the credentials for the directory. People and groups that were read from it stay.";
  static override destructive = true;
  static override endpoints = [directoryApi.setCredentials];
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --yes"];

  async run() {
    const { flags } = await this.parse(DirectoryDelete);
    if (flags["dry-run"]) this.trying("delete the credentials for the directory", {});
    await this.confirm("Delete the credentials for the directory?");
    await this.call(directoryApi.setCredentials, { body: { directory_graph_credentials: [] } });
    await this.report("deleted the credentials for the directory", { deleted: true });
  }
}
