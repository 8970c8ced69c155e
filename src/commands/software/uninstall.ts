import { scriptsApi } from "../../api/delivery/scripts.ts";
import { softwareInstallsApi } from "../../api/delivery/software-installs.ts";
import type { BulkOutcome } from "../../api/inventory/bulk-actions.ts";
import { hostsApi } from "../../api/inventory/hosts.ts";
import type { HostSoftwareItem } from "../../api/software/software.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import type { BulkOptions } from "../../cli/topics/hosts/bulk.ts";
import { isScriptPending } from "../../cli/topics/scripts/results.ts";
import { type InstallOutcome, Installs, installFlags } from "../../cli/topics/software/installs.ts";

export default class SoftwareUninstall extends ClientCommand {
  static override summary = "Uninstall a package from hosts, as soon as they are online.";
  static override description =
    "Runs the script of the package that uninstalls it, on hosts that are named, or selected with --where. With " +
    "--wait, the exit code is 0 only if it was uninstalled from all hosts. `svc scripts result` shows the result, " +
    "too.";
  static override endpoints = [
    softwareInstallsApi.uninstall,
    softwareInstallsApi.uninstallFromHosts,
    scriptsApi.result,
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
  readonly verb = "uninstall";
  readonly done = "uninstalled";

  readonly #installs = new Installs(this, this);

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(SoftwareUninstall);
    await this.#installs.carryOut(argv.map(String), flags);
  }

  ask(id: number, software_title_id: number): Promise<unknown> {
    return this.call(softwareInstallsApi.uninstall, { params: { id, software_title_id } });
  }

  askMany(software_title_id: number, ids: number[], options: BulkOptions): Promise<BulkOutcome> {
    const request = { params: { id: software_title_id }, body: { ids } };
    return this.call(softwareInstallsApi.uninstallFromHosts, request, options);
  }

  uuidIn(item: HostSoftwareItem | undefined): string {
    return item?.software_package?.last_uninstall?.script_execution_id ?? "";
  }

  async look(before: InstallOutcome): Promise<InstallOutcome> {
    const result = await this.call(scriptsApi.result, { params: { execution_id: before.uuid } });
    const { exit_code, output } = result;
    if (isScriptPending(result)) return before;
    const status = exit_code === null ? "canceled" : exit_code === 0 ? this.done : "failed_uninstall";
    const reason = exit_code === null || exit_code <= 0 ? "" : `The script ended with the exit code ${exit_code}.`;
    return { ...before, status, output, message: result.message || reason };
  }
}
