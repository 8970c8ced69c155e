import * as Flags from "@oclif/core/flags";
import { scimApi } from "../../../api/hosts/scim.ts";
import { personGroupView, ScimCommand } from "../../../cli/features/scim/people.ts";
import { limitFlags } from "../../../cli/flags.ts";

export default class ScimGroupsList extends ScimCommand {
  static override summary = "List the groups that the identity provider has sent, without their members.";
  static override endpoints = [scimApi.groups];
  static override flags = {
    filter: Flags.string({ summary: 'SCIM filter, e.g. displayName eq "Sales".', helpValue: "FILTER" }),
    ...limitFlags,
  };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    const { flags } = await this.parse(ScimGroupsList);
    await this.printList(this.resources("groups", flags.filter), personGroupView);
  }
}
