import * as Flags from "@oclif/core/flags";
import { Approval, approvalsApi } from "../../api/hosts/approvals.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag } from "../../cli/flags.ts";
import { describeApproval } from "../../cli/topics/approvals.ts";
import { printable } from "../../text/printable.ts";

export default class ApprovalsApprove extends ClientCommand {
  static override summary = "Approve another user's request. The action runs immediately, in that user's name.";
  static override description =
    "Shows the request and asks you to type the number of hosts, or the name of a single host; without a terminal, give it with --confirm. If " +
    "the selected hosts have changed since the request, nothing is done, and the request must be made again (exit code 5).";
  static override destructive = true;
  static override endpoints = [approvalsApi.approve, approvalsApi.get];
  static override args = { id: args.required("id of the request") };
  static override flags = {
    confirm: Flags.string({ summary: "Number of hosts, or name of the single host." }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --confirm 2",
    "<%= config.bin %> <%= command.id %> 1 --dry-run",
  ];

  async run() {
    const { args, flags } = await this.parse(ApprovalsApprove);
    const params = { id: args.id };
    const { approval } = await this.call(approvalsApi.get, { params });
    const what = describeApproval(approval);
    if (flags["dry-run"]) this.trying(`${what}`, approval);
    if (approval.may_decide) await this.#ask(approval, what);

    const { approval: after } = await this.call(approvalsApi.approve, { params });
    const state = after.state === "approved" ? "the server is running it" : after.state;
    await this.report(`approved: ${what} (${state})`, after, { schema: () => Approval });
  }

  async #ask(approval: Approval, what: string): Promise<void> {
    const { hosts, hosts_count: count } = approval;
    if (count > 1) {
      for (const { display_name, id } of hosts) this.note(`  ${printable(display_name)} (${id})`);
      if (count > hosts.length) this.note(`  and ${count - hosts.length} more`);
    }
    const [only] = hosts;
    const numbered = count !== 1 || !only || this.common.confirm === "1";
    await this.confirmTyped(`Approve: ${what}?`, numbered ? String(count) : only.display_name);
  }
}
