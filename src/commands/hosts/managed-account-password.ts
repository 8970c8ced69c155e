import { hostPasswordsApi } from "../../api/devices/host-passwords.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsManagedAccountPassword extends ClientCommand {
  static override summary = "Print the password of a Mac's managed local account. The access is recorded.";
  static override endpoints = [hostPasswordsApi.managedAccount];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args, flags } = await this.parse(HostsManagedAccountPassword);
    const { id, display_name } = await this.host(args.host);
    const reply = await this.call(hostPasswordsApi.managedAccount, { params: { id } });
    if (this.structured || flags.fields !== undefined)
      return this.printOne(reply, { schema: () => hostPasswordsApi.managedAccount.response });
    const { password, updated_at } = reply.managed_account_password;
    this.note(`password of the account that this server manages on ${printable(display_name)}, set ${updated_at}`);
    this.log(printable(password));
  }
}
