import * as Flags from "@oclif/core/flags";
import { scimApi } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { personGroupView, scimResources } from "../../../cli/topics/scim/people.ts";

export default class ScimGroupsList extends ClientCommand {
  static override summary = "List the groups that the identity provider has sent, without their members.";
  static override endpoints = [scimApi.groups];
  static override flags = {
    filter: Flags.string({ summary: 'SCIM filter, e.g. displayName eq "Sales".', helpValue: "FILTER" }),
    ...limitFlags,
  };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(ScimGroupsList);
    await this.printList(scimResources(this, "groups", flags.filter), personGroupView);
  }
}
