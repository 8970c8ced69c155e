import { vppApi } from "../../../api/delivery/vpp.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { vppTokenView } from "../../../cli/topics/mdm/vpp-token.ts";

export default class MdmVppList extends ClientCommand {
  static override summary = "List the tokens with which licenses for store apps are assigned.";
  static override endpoints = [vppApi.list];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(MdmVppList);
    const { vpp_tokens: rows } = await this.call(vppApi.list);
    await this.printList(rows, vppTokenView(this.relativeTimes, this.io.now()));
  }
}
