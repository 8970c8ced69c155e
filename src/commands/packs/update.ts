import { Pack, packsApi } from "../../api/checks/packs.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { packFields, packFlags } from "../../cli/topics/packs.ts";

export default class PacksUpdate extends ClientCommand {
  static override summary = "Change a pack.";
  static override endpoints = [packsApi.modify];
  static override args = { pack: args.pack };
  static override flags = { ...packFlags, ...inputFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> Compliance --disabled"];

  async run() {
    const { args, flags } = await this.parse(PacksUpdate);
    const find = {
      host: (text: string) => this.host(text),
      label: (text: string) => this.label(text),
      team: this.findTeam,
    };
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(await packFields(flags, find)),
    };
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const before = await this.pack(args.pack);
    if (flags["dry-run"]) {
      this.trying(`change pack ${before.name}`, { id: before.id, name: before.name }, changesOf(before, body));
    }
    const { pack } = await this.call(packsApi.modify, { params: { id: before.id }, body });
    await this.report(`changed pack ${pack.name}`, pack, { schema: () => Pack });
  }
}
