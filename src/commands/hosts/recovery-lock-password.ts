import { hostPasswordsApi } from "../../api/devices/host-passwords.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsRecoveryLockPassword extends ClientCommand {
  static override summary = "Print the password with which a Mac starts in recovery mode. The access is recorded.";
  static override endpoints = [hostPasswordsApi.recoveryLock];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args, flags } = await this.parse(HostsRecoveryLockPassword);
    const { id, display_name } = await this.host(args.host);
    const reply = await this.call(hostPasswordsApi.recoveryLock, { params: { id } });
    if (this.structured || flags.fields !== undefined)
      return this.printOne(reply, { schema: () => hostPasswordsApi.recoveryLock.response });
    const { password, updated_at } = reply.recovery_lock_password;
    this.note(`recovery lock password of ${printable(display_name)}, set ${updated_at}`);
    this.log(printable(password));
  }
}
