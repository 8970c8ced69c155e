import { type ModifyView, viewsApi } from "../../api/settings/views.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag, teamFlag } from "../../cli/flags.ts";
import { viewFields, viewFlags } from "../../cli/topics/views.ts";

export default class ViewsUpdate extends ClientCommand {
  static override summary = "Change a saved view of a list, or with whom it is shared.";
  static override endpoints = [viewsApi.modify];
  static override args = { id: args.required("id of the view") };
  static override flags = { ...viewFlags, ...teamFlag, ...inputFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 7 --shared everyone"];

  async run() {
    const { args: given, flags } = await this.parse(ViewsUpdate);
    const body: Record<string, unknown> = { ...(await readBody(this.io, flags.input)), ...viewFields(flags) };
    if (flags.team !== undefined) {
      body.team_id = (await this.team(flags.team)).id;
      body.shared ??= "team";
    }
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const params = { id: given.id };
    const { view: before } = await this.call(viewsApi.get, { params });
    const about = { id: before.id, name: before.name };
    if (flags["dry-run"]) this.trying(`change the view ${before.name}`, about, changesOf(before, body));
    const { view } = await this.call(viewsApi.modify, { params, body: body as ModifyView });
    await this.report(`changed the view ${view.name}`, view);
  }
}
