import { caApi } from "../../api/certificates/ca.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { findAuthority } from "../../cli/topics/ca.ts";

export default class CaDelete extends ClientCommand {
  static override summary = "Delete a certificate authority. Certificates that it issued stay on hosts.";
  static override destructive = true;
  static override endpoints = [caApi.delete];
  static override args = { authority: args.required("name or id of the certificate authority") };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> EST --yes"];

  async run() {
    const { args, flags } = await this.parse(CaDelete);
    const { id, name, type } = await findAuthority(this, args.authority);
    const what = `certificate authority ${name} (${type})`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id, name, type });
    await this.confirm(`Delete ${what}?`);
    await this.call(caApi.delete, { params: { id } });
    await this.report(`deleted ${what}`, { id, name, deleted: true });
  }
}
