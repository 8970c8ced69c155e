import { Approval, approvalsApi } from "../../api/hosts/approvals.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";

export default class ApprovalsGet extends ClientCommand {
  static override summary = "Show a request: what was requested, who requested it, and its outcome.";
  static override endpoints = [approvalsApi.get];
  static override args = { id: args.required("id of the request") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args } = await this.parse(ApprovalsGet);
    const { approval } = await this.call(approvalsApi.get, { params: { id: args.id } });
    await this.printOne(approval, { schema: () => Approval });
  }
}
