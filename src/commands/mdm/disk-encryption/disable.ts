import { diskEncryptionApi } from "../../../api/devices/disk-encryption.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { changeDiskEncryption, diskEncryptionFlags } from "../../../cli/topics/mdm/disk-encryption.ts";

export default class MdmDiskEncryptionDisable extends ClientCommand {
  static override summary = "Turn off disk encryption for a team's hosts, or for hosts without a team.";
  static override description =
    "Disks stay encrypted, but hosts need not be any more. Keys that were escrowed stay readable.";
  static override endpoints = [diskEncryptionApi.changeByPatch];
  static override flags = diskEncryptionFlags;
  static override examples = ["<%= config.bin %> <%= command.id %> --team Workstations"];

  async run() {
    const { flags } = await this.parse(MdmDiskEncryptionDisable);
    await changeDiskEncryption(this, diskEncryptionApi.changeByPatch, flags, false);
  }
}
