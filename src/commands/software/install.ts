import { softwareInstallsApi } from "../../api/delivery/software-installs.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import type { HostSoftwareItem } from "../../api/software/software.ts";
import { InstallCommand, installFlags, type Outcome } from "../../cli/features/software/install-command.ts";
import { args } from "../../cli/flags.ts";

export default class SoftwareInstall extends InstallCommand {
  static override summary = "Install a package or store app on hosts, as soon as they are online.";
  static override description =
    "Installs what the host's team offers of the title, on hosts that are named, or selected with --where. With " +
    "--wait, the exit code is 0 only if it was installed on all hosts. Cancel what has not started with `svc hosts " +
    "cancel`.";
  static override endpoints = [softwareInstallsApi.install, softwareInstallsApi.result, hostsApi.software];
  static override strict = false;
  static override args = { hosts: args.hosts };
  static override flags = installFlags;
  static override examples = [
    "<%= config.bin %> <%= command.id %> linux-1.example.com --title 1 --wait",
    "<%= config.bin %> <%= command.id %> linux-1.example.com --title tool --dry-run",
    "<%= config.bin %> <%= command.id %> --where 'platform = ubuntu' --title tool --dry-run",
  ];
  protected readonly verb = "install";
  protected readonly done = "installed";

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(SoftwareInstall);
    await this.carryOut(argv.map(String), flags);
  }

  protected ask(id: number, software_title_id: number): Promise<unknown> {
    return this.call(softwareInstallsApi.install, { params: { id, software_title_id } });
  }

  protected uuidIn(item: HostSoftwareItem | undefined): string {
    const { software_package, app_store_app } = { software_package: null, app_store_app: null, ...item };
    return software_package?.last_install?.install_uuid ?? app_store_app?.last_install?.command_uuid ?? "";
  }

  protected async look(before: Outcome): Promise<Outcome> {
    const item = await this.itemOn(before.host_id, before.software_title_id);
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
