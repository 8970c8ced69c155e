import * as Flags from "@oclif/core/flags";
import { abmApi } from "../../../api/devices/abm.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { abmTokenView } from "../../../cli/topics/mdm/abm-token.ts";

export default class MdmAbmList extends ClientCommand {
  static override summary = "List the tokens that give access to the organization's devices in the business portal.";
  static override endpoints = [abmApi.list, abmApi.count];
  static override flags = { count: Flags.boolean({ summary: "Print only their number." }) };
  static override examples = ["<%= config.bin %> <%= command.id %>", "<%= config.bin %> <%= command.id %> --count"];

  async run() {
    const { flags } = await this.parse(MdmAbmList);
    if (flags.count) return this.printOne(await this.call(abmApi.count), { columns: [{ key: "count" }] });
    const { abm_tokens: rows } = await this.call(abmApi.list);
    await this.printList(rows, abmTokenView(this.relativeTimes, this.io.now()));
  }
}
