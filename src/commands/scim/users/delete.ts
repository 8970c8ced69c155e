import { scimApi } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { findPerson, personArg } from "../../../cli/topics/scim/people.ts";
import { printable } from "../../../text/printable.ts";

export default class ScimUsersDelete extends ClientCommand {
  static override summary = "Delete a person. Hosts no longer show it as their user.";
  static override destructive = true;
  static override endpoints = [scimApi.deleteUser];
  static override args = { person: personArg };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> ann@example.com --yes"];

  async run() {
    const { args, flags } = await this.parse(ScimUsersDelete);
    const { id, userName } = await findPerson(this, args.person);
    const what = `the person ${printable(userName)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id, userName });
    await this.confirm(`Delete ${what}?`);
    await this.call(scimApi.deleteUser, { params: { id } });
    await this.report(`deleted ${what}`, { id, userName });
  }
}
