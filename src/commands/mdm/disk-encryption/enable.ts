import * as Flags from "@oclif/core/flags";
import { diskEncryptionApi } from "../../../api/devices/disk-encryption.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { changeDiskEncryption, diskEncryptionFlags } from "../../../cli/topics/mdm/disk-encryption.ts";

export default class MdmDiskEncryptionEnable extends ClientCommand {
  static override summary = "Turn on disk encryption for a team's hosts, or for hosts without a team.";
  static override description =
    "Macs turn on FileVault and keep their recovery key on the server; agents of Windows and Linux hosts send their keys. " +
    "`svc hosts encryption-key` reads a key, and each reading is recorded.";
  static override endpoints = [diskEncryptionApi.change];
  static override flags = {
    ...diskEncryptionFlags,
    "require-bitlocker-pin": Flags.boolean({ summary: "Users of Windows hosts have to set a PIN.", allowNo: true }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --team Workstations",
    "<%= config.bin %> <%= command.id %> --require-bitlocker-pin",
    "<%= config.bin %> <%= command.id %> --team Workstations --platform macos --platform linux",
  ];

  async run() {
    const { flags } = await this.parse(MdmDiskEncryptionEnable);
    await changeDiskEncryption(this, diskEncryptionApi.change, flags, true, flags["require-bitlocker-pin"]);
  }
}
