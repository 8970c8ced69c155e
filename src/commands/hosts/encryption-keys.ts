import { EscrowedKey, hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { printable } from "../../text/printable.ts";

export default class HostsEncryptionKeys extends ClientCommand {
  static override summary =
    "List the last disk encryption keys that a host has stored on the server. The access is recorded.";
  static override description =
    "The newest key comes first. If it does not open the disk, a former one may: keys are replaced whenever the host sends another one.";
  static override endpoints = [hostDetailsApi.encryptionKeys];
  static override args = { host: args.host };
  static override examples = ["<%= config.bin %> <%= command.id %> mac-1.example.com"];

  async run() {
    const { args } = await this.parse(HostsEncryptionKeys);
    const { id, display_name } = await this.host(args.host);
    const { encryption_keys: keys } = await this.call(hostDetailsApi.encryptionKeys, { params: { id } });
    if (keys.length === 0) this.note(`${printable(display_name)} has stored no disk encryption key`);
    await this.printList(keys, {
      schema: () => EscrowedKey,
      columns: [
        { key: "key", whole: true },
        timeColumn("escrowed_at", "stored", this.relativeTimes, this.io.now()),
        { key: "source", header: "sent by" },
      ],
    });
  }
}
