import { hostPasswordsApi } from "../../api/devices/host-passwords.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { HostPasswords, rotateFlags } from "../../cli/topics/hosts/passwords.ts";

export default class HostsRotateRecoveryLockPassword extends ClientCommand {
  static override summary = "Give a Mac another recovery lock password as soon as it is online.";
  static override description =
    "With --wait, the exit code is 0 if the Mac has the new password, 1 if it has refused it, and 7 if it has not answered.";
  static override endpoints = [hostPasswordsApi.rotateRecoveryLock];
  static override args = { host: args.host };
  static override flags = rotateFlags;
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com --yes",
    "<%= config.bin %> <%= command.id %> mac-1.example.com --yes --wait --timeout 30m --dry-run",
  ];

  readonly what = "recovery lock password";
  readonly setting = "recovery_lock_password";

  readonly #passwords = new HostPasswords(this, this);

  async run() {
    const { args, flags } = await this.parse(HostsRotateRecoveryLockPassword);
    await this.#passwords.rotate(args.host, flags);
  }

  request(id: number) {
    return this.call(hostPasswordsApi.rotateRecoveryLock, { params: { id } });
  }
}
