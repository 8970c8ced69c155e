import { scimApi } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { findPersonGroup, personGroupArg, personGroupView } from "../../../cli/topics/scim/people.ts";

export default class ScimGroupsGet extends ClientCommand {
  static override summary = "Show a group of the identity provider with its members.";
  static override endpoints = [scimApi.group];
  static override args = { group: personGroupArg };
  static override examples = ["<%= config.bin %> <%= command.id %> Sales"];

  async run() {
    const { args } = await this.parse(ScimGroupsGet);
    const { id } = await findPersonGroup(this, args.group);
    await this.printOne(await this.call(scimApi.group, { params: { id } }), personGroupView);
  }
}
