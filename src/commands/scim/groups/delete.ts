import { scimApi } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../../cli/flags.ts";
import { findPersonGroup, personGroupArg } from "../../../cli/topics/scim/people.ts";
import { printable } from "../../../text/printable.ts";

export default class ScimGroupsDelete extends ClientCommand {
  static override summary = "Delete a group of people. The people stay.";
  static override destructive = true;
  static override endpoints = [scimApi.deleteGroup];
  static override args = { group: personGroupArg };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> Sales --yes"];

  async run() {
    const { args, flags } = await this.parse(ScimGroupsDelete);
    const { id, displayName } = await findPersonGroup(this, args.group);
    const what = `the group ${printable(displayName)}`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, { id, displayName });
    await this.confirm(`Delete ${what}?`);
    await this.call(scimApi.deleteGroup, { params: { id } });
    await this.report(`deleted ${what}`, { id, displayName });
  }
}
