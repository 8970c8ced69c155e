import { Pack, packsApi } from "../../api/checks/packs.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { packFields, packFlags } from "../../cli/topics/packs.ts";

export default class PacksCreate extends ClientCommand {
  static override summary = "Create a pack.";
  static override endpoints = [packsApi.create];
  static override flags = { ...packFlags, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name Incident --host mac-1.example.com --label 'All Linux' --team Workstations",
  ];

  async run() {
    const { flags } = await this.parse(PacksCreate);
    const find = {
      host: (text: string) => this.host(text),
      label: (text: string) => this.label(text),
      team: this.findTeam,
    };
    const input: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(await packFields(flags, find)),
    };
    const name = typeof input.name === "string" ? input.name : await this.askText("Name", "--name");
    const body = { ...input, name };
    if (flags["dry-run"]) {
      this.trying(`create pack ${name}`, null, changesOf({}, body));
    }
    const { pack } = await this.call(packsApi.create, { body });
    await this.report(`created pack ${pack.name} (${pack.id})`, pack, { schema: () => Pack });
  }
}
