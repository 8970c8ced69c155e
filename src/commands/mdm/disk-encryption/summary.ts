import { diskEncryptionApi } from "../../../api/devices/disk-encryption.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { teamFlag } from "../../../cli/flags.ts";

export default class MdmDiskEncryptionSummary extends ClientCommand {
  static override summary = "Count the hosts of a team by the state of their disk encryption.";
  static override endpoints = [diskEncryptionApi.summary];
  static override flags = { ...teamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(MdmDiskEncryptionSummary);
    const query = await this.teamFilter(flags.team);
    const counts = await this.call(diskEncryptionApi.summary, { query });
    const rows = Object.entries(counts).map(([state, hosts]) => ({ state, ...hosts }));
    await this.printList(rows, {
      columns: [
        { key: "state" },
        { key: "macos", header: "macOS" },
        { key: "windows", header: "Windows" },
        { key: "linux", header: "Linux" },
      ],
    });
  }
}
