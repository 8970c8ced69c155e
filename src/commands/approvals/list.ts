import { approvalsApi } from "../../api/hosts/approvals.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { approvalView } from "../../cli/topics/approvals.ts";

export default class ApprovalsList extends ClientCommand {
  static override summary = "List approval requests: your own, and those that you may decide.";
  static override endpoints = [approvalsApi.list];
  static override flags = { ...queryFlags(approvalsApi.list), ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --state pending",
    "<%= config.bin %> <%= command.id %> --limit 20 -o json",
  ];

  async run() {
    const { flags } = await this.parse(ApprovalsList);
    const rows = await this.rows(approvalsApi.list, { query: queryOf(approvalsApi.list, flags) }, "approvals");
    await this.printList(rows, approvalView(this.relativeTimes, this.io.now()));
  }
}
