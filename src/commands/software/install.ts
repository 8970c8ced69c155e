import { softwareInstallsApi } from "../../api/delivery/software-installs.ts";
import type { BulkOutcome } from "../../api/inventory/bulk-actions.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import type { HostSoftwareItem } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import type { BulkOptions } from "../../cli/topics/hosts/bulk.ts";
import { type InstallOutcome, Installs, installFlags } from "../../cli/topics/software/installs.ts";

export default class SoftwareInstall extends ClientCommand {
  static override summary = "Install a package or store app on hosts, as soon as they are online.";
  static override description =
    "Installs what the host's team offers of the title, on hosts that are named, or selected with --where. With " +
    "--wait, the exit code is 0 only if it was installed on all hosts. Cancel what has not started with `svc hosts " +
    "cancel`.";
  static override endpoints = [
    softwareInstallsApi.install,
    softwareInstallsApi.installOnHosts,
    softwareInstallsApi.result,
    hostsApi.software,
  ];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = installFlags;
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com --title 1 --wait",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --title tool --dry-run",
    "<%= config.bin %> <%= command.id %> --where 'platform = ubuntu' --title tool --dry-run",
  ];
  readonly verb = "install";
  readonly done = "installed";

  readonly #installs = new Installs(this, this);

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(SoftwareInstall);
    await this.#installs.carryOut(argv.map(String), flags);
  }

  ask(id: number, software_title_id: number): Promise<unknown> {
    return this.call(softwareInstallsApi.install, { params: { id, software_title_id } });
  }

  askMany(software_title_id: number, ids: number[], options: BulkOptions): Promise<BulkOutcome> {
    return this.call(softwareInstallsApi.installOnHosts, { params: { id: software_title_id }, body: { ids } }, options);
  }

  uuidIn(item: HostSoftwareItem | undefined): string {
    const { software_package, app_store_app } = { software_package: null, app_store_app: null, ...item };
    return software_package?.last_install?.install_uuid ?? app_store_app?.last_install?.command_uuid ?? "";
  }

  async look(before: InstallOutcome): Promise<InstallOutcome> {
    const item = await this.#installs.itemOn(before.host_id, before.software_title_id);
    // Store apps have no results of their own.
    if (item?.software_package?.last_install?.install_uuid !== before.uuid) {
      const status = item?.status ?? "canceled";
      const { message } = status === before.status ? before : { message: "" };
      return { ...before, status, message };
    }
    const result = await this.call(softwareInstallsApi.result, { params: { install_uuid: before.uuid } });
    const { status, message, output, post_install_script_output: post } = result;
    return { ...before, status, message, output: [output, post].filter(Boolean).join("\n") };
  }
}
