import * as Flags from "@oclif/core/flags";
import { type CreateView, viewPages, viewsApi } from "../../api/settings/views.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag, teamFlag } from "../../cli/flags.ts";
import { viewFields, viewFlags } from "../../cli/topics/views.ts";

export default class ViewsCreate extends ClientCommand {
  static override summary = "Save a view of a list: filters, order and columns.";
  static override description =
    "Views are private unless --shared is given. With --team they are shared with those who have a role on the team; maintainers of the team may do that.";
  static override endpoints = [viewsApi.create];
  static override flags = {
    page: Flags.option({ options: viewPages })({ summary: "The list." }),
    ...viewFlags,
    ...teamFlag,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name Offline --page hosts --query status=offline --query order_key=seen_time --columns hostname,seen_time",
    "<%= config.bin %> <%= command.id %> --name Failing --page policies --query order_key=failing_host_count --team Workstations",
  ];

  async run() {
    const { flags } = await this.parse(ViewsCreate);
    const body: Record<string, unknown> = { ...(await readBody(this.io, flags.input)), ...viewFields(flags) };
    if (flags.page !== undefined) body.page = flags.page;
    if (flags.team !== undefined) {
      body.team_id = (await this.team(flags.team)).id;
      body.shared ??= "team";
    }
    if (flags["dry-run"]) this.trying("save a view", body);
    const { view } = await this.call(viewsApi.create, { body: body as CreateView });
    await this.report(`saved the view ${view.name} (${view.id})`, view);
  }
}
