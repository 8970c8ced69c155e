import * as Flags from "@oclif/core/flags";
import { storeAppsApi } from "../../../api/delivery/store-apps.ts";
import { storePlatforms } from "../../../api/software/store-app.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args, dryRunFlag, ofTeam, teamFlag } from "../../../cli/flags.ts";
import { offerFlags, offerOf } from "../../../cli/topics/software/store-app-flags.ts";

export default class SoftwareStoreAppsAdd extends ClientCommand {
  static override summary = "Offer a store app to the hosts of a team.";
  static override description =
    "`svc software store-apps list` shows the apps for which the organization has licenses.";
  static override endpoints = [storeAppsApi.add];
  static override args = { app: args.required("id of the app in the store, or the name of its package on Android") };
  static override flags = {
    ...teamFlag,
    platform: Flags.option({ summary: "Platform of the hosts.", options: storePlatforms, default: "darwin" })(),
    ...offerFlags,
    "automatic-install": Flags.boolean({ summary: "Create a policy that installs it on Macs without it." }),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> 361309726 --team Workstations --self-service",
    "<%= config.bin %> <%= command.id %> 310633997 --platform ios",
    "<%= config.bin %> <%= command.id %> com.example.mail --platform android --self-service",
  ];

  async run() {
    const { args, flags } = await this.parse(SoftwareStoreAppsAdd);
    const body = {
      app_store_id: args.app,
      team_id: 0,
      platform: flags.platform,
      ...(await this.teamFilter(flags.team)),
      ...(flags["automatic-install"] ? { ensure: "present" as const } : {}),
      ...(await offerOf(this.io, flags)),
    };
    const whom = ofTeam(flags.team);
    if (flags["dry-run"]) this.trying(`offer the app ${args.app} to ${whom}`, body);
    const added = await this.call(storeAppsApi.add, { body });
    await this.report(`${whom} can install ${added.name} (title ${added.software_title_id})`, added);
  }
}
