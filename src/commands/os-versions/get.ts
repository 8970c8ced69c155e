import { OsVersionDetails, osVersionsApi } from "../../api/software/os-versions.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { osVersionView } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

export default class OsVersionsGet extends ClientCommand {
  static override summary = "Show an operating system version; on Linux, with its kernels.";
  static override endpoints = [osVersionsApi.get];
  static override args = { id: args.required("id of the version") };
  static override flags = { ...queryFlags(osVersionsApi.get), ...teamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> 1 -o json"];

  async run() {
    const { args, flags } = await this.parse(OsVersionsGet);
    const query = queryOf(osVersionsApi.get, flags, await this.teamFilter(flags.team));
    const reply = await this.call(osVersionsApi.get, { params: { id: args.id }, query });
    const version = reply.os_version;
    await this.printOne(version, {
      schema: () => OsVersionDetails,
      columns: [
        ...osVersionView.columns,
        ...(version.kernels === undefined
          ? []
          : [
              {
                key: "kernels",
                text: () => version.kernels!.map((kernel) => `${kernel.version} (${kernel.hosts_count})`).join(", "),
              },
            ]),
      ],
    });
    await noteMissingData(this, reply);
  }
}
