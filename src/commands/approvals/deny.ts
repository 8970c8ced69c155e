import * as Flags from "@oclif/core/flags";
import { Approval, approvalsApi } from "../../api/hosts/approvals.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { describeApproval } from "../../cli/topics/approvals.ts";

export default class ApprovalsDeny extends ClientCommand {
  static override summary = "Deny another user's request, or withdraw your own.";
  static override endpoints = [approvalsApi.deny, approvalsApi.get];
  static override args = { id: args.required("id of the request") };
  static override flags = {
    reason: Flags.string({ summary: "Reason, shown to the user who made the request." }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 --reason 'these are in use'"];

  async run() {
    const { args, flags } = await this.parse(ApprovalsDeny);
    const params = { id: args.id };
    const { approval } = await this.call(approvalsApi.get, { params });
    const what = describeApproval(approval);
    const reason =
      flags.reason ?? (flags["dry-run"] ? "dry run" : await this.askText(`Reason to deny (${what}):`, "--reason"));
    if (flags["dry-run"]) this.trying(`deny: ${what}`, approval);
    const { approval: after } = await this.call(approvalsApi.deny, { params, body: { reason } });
    await this.report(`denied: ${what}`, after, { schema: () => Approval });
  }
}
