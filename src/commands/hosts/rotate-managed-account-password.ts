import { hostPasswordsApi } from "../../api/devices/host-passwords.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { HostPasswords, rotateFlags } from "../../cli/topics/hosts/passwords.ts";

export default class HostsRotateManagedAccountPassword extends ClientCommand {
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

  readonly what = "password of the managed account";
  readonly setting = "managed_local_account";

  readonly #passwords = new HostPasswords(this, this);

  async run() {
    const { args, flags } = await this.parse(HostsRotateManagedAccountPassword);
    await this.#passwords.rotate(args.host, flags);
  }

  request(id: number) {
    return this.call(hostPasswordsApi.rotateManagedAccount, { params: { id } });
  }
}
