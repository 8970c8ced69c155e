import { hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { printable } from "../../text/printable.ts";

export default class HostsEncryptionKey extends ClientCommand {
  static override summary = "Print the disk encryption key of a host. The access is recorded.";
  static override endpoints = [hostDetailsApi.encryptionKey];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args, flags } = await this.parse(HostsEncryptionKey);
    const { id, display_name } = await this.host(args.host);
    const reply = await this.call(hostDetailsApi.encryptionKey, { params: { id } });
    if (this.structured || flags.fields !== undefined)
      return this.printOne(reply, { schema: () => hostDetailsApi.encryptionKey.response });
    this.note(`key of ${printable(display_name)}, stored ${reply.encryption_key.updated_at}`);
    this.log(printable(reply.encryption_key.key));
  }
}
