import * as Flags from "@oclif/core/flags";
import { storeAppsApi } from "../../../api/delivery/store-apps.ts";
import { StoreApp, storeAppFields } from "../../../api/software/store-app.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag, teamFlag } from "../../../cli/flags.ts";
import { plainFlags } from "../../../cli/plain-flags.ts";
import { offerFlags, offerOf } from "../../../cli/topics/software/store-app-flags.ts";
import { offered, titleArg, titleNamed } from "../../../cli/topics/software/titles.ts";

const { "auto-update-enabled": autoUpdate, ...plain } = plainFlags(storeAppFields);

export default class SoftwareStoreAppsUpdate extends ClientCommand {
  static override summary = "Change how a team offers a store app.";
  static override endpoints = [storeAppsApi.edit];
  static override args = { title: titleArg };
  static override flags = {
    ...teamFlag,
    ...offerFlags,
    ...plain,
    "auto-update": autoUpdate,
    from: Flags.string({ summary: "Start of updates, in the host's local time.", helpValue: "HH:MM" }),
    until: Flags.string({ summary: "End of updates; may be on the next day.", helpValue: "HH:MM" }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 1 --team Workstations --self-service --category Office",
    "<%= config.bin %> <%= command.id %> 2 --auto-update --from 22:00 --until 04:30",
  ];

  async run() {
    const { args, flags } = await this.parse(SoftwareStoreAppsUpdate);
    const changes: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(await offerOf(this.io, flags)),
      ...(flags["auto-update"] === undefined ? {} : { auto_update_enabled: flags["auto-update"] }),
      ...(flags.from === undefined ? {} : { auto_update_window_start: flags.from }),
      ...(flags.until === undefined ? {} : { auto_update_window_end: flags.until }),
    };
    if (Object.keys(changes).length === 0)
      throw usage("nothing to change", "See `svc software store-apps update --help`.");
    const body = { team_id: 0, ...(await this.teamFilter(flags.team)), ...changes };
    const id = await titleNamed(await this.client(), args.title, offered(body.team_id));
    if (flags["dry-run"]) this.trying(`change the app of title ${args.title}`, body);
    const { app_store_app: changed } = await this.call(storeAppsApi.edit, { params: { id }, body });
    await this.report(`changed ${changed.name}`, changed, { schema: () => StoreApp });
  }
}
