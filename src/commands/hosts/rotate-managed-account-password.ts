import { hostPasswordsApi } from "../../api/devices/host-passwords.ts";
import { RotateCommand, rotateFlags } from "../../cli/features/host-password.ts";
import { args } from "../../cli/flags.ts";

export default class HostsRotateManagedAccountPassword extends RotateCommand {
  static override summary = "Give the managed local account of a Mac another password as soon as it is online.";
  static override description =
    "With --wait, the exit code is 0 if the Mac has the new password, 1 if it has refused it, and 7 if it has not answered.";
  static override endpoints = [hostPasswordsApi.rotateManagedAccount];
  static override args = { host: args.host };
  static override flags = rotateFlags;
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com --yes",
    "<%= config.bin %> <%= command.id %> mac-1.example.com --yes --wait --timeout 30m --dry-run",
  ];

  protected readonly what = "password of the managed account";
  protected readonly setting = "managed_local_account";

  async run() {
    const { args: given, flags } = await this.parse(HostsRotateManagedAccountPassword);
    await this.rotate(given.host, flags);
  }

  protected request(id: number) {
    return this.call(hostPasswordsApi.rotateManagedAccount, { params: { id } });
  }
}
