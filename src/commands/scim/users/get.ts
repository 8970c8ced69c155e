import { scimApi } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { findPerson, personArg, personView } from "../../../cli/topics/scim/people.ts";

export default class ScimUsersGet extends ClientCommand {
  static override summary = "Show a person of the identity provider with its groups.";
  static override endpoints = [scimApi.users, scimApi.user];
  static override args = { person: personArg };
  static override examples = [
    "<%= config.bin %> <%= command.id %> ann@example.com",
    "<%= config.bin %> <%= command.id %> 1",
  ];

  async run() {
    const { args } = await this.parse(ScimUsersGet);
    await this.printOne(await findPerson(this, args.person), personView);
  }
}
