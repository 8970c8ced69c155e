import { InstallResult, softwareInstallsApi } from "../../api/delivery/software-installs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";

export default class SoftwareInstallResult extends ClientCommand {
  static override summary =
    "Show how the installation of a package on a host ended, and what its scripts have printed.";
  static override endpoints = [softwareInstallsApi.result];
  static override args = { install: args.required("uuid of the installation, as `svc software install` shows it") };
  static override examples = ["<%= config.bin %> <%= command.id %> 6b1d2f1e-0d1c-4c7d-9b1e-000000000003"];

  async run() {
    const { args } = await this.parse(SoftwareInstallResult);
    const result = await this.call(softwareInstallsApi.result, { params: { install_uuid: args.install } });
    await this.printOne(result, {
      schema: () => InstallResult,
      columns: [
        { key: "host_display_name", header: "host" },
        { key: "software_title", header: "software" },
        { key: "software_package", header: "package" },
        { key: "status" },
        { key: "message" },
        { key: "pre_install_query_output", header: "query before", block: true },
        { key: "output", block: true },
        { key: "post_install_script_output", header: "script after", block: true },
        { key: "install_uuid", header: "uuid" },
      ],
    });
  }
}
