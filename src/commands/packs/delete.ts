import { packsApi } from "../../api/checks/packs.ts";
import { isPathStep } from "../../api/paths.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";

export default class PacksDelete extends ClientCommand {
  static override summary = "Delete a pack. Its queries are kept.";
  static override destructive = true;
  static override endpoints = [packsApi.delete, packsApi.deleteByName];
  static override args = { pack: args.pack };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Compliance --yes",
    "<%= config.bin %> <%= command.id %> 1 --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(PacksDelete);
    const { id, name, query_count } = await this.pack(args.pack);
    if (flags["dry-run"]) this.trying(`delete pack ${name}`, { id, name, query_count });
    await this.confirm(`Delete pack ${name}?`);
    // Deleted by the given name, so that a pack that was renamed meanwhile is not deleted.
    if (args.pack === name && !isPathStep(name)) await this.call(packsApi.deleteByName, { params: { name } });
    else await this.call(packsApi.delete, { params: { id } });
    await this.report(`deleted pack ${name}`, { id, name, deleted: true });
  }
}
