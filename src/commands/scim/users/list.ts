import * as Flags from "@oclif/core/flags";
import { scimApi } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { limitFlags } from "../../../cli/flags.ts";
import { personView, scimResources } from "../../../cli/topics/scim/people.ts";

export default class ScimUsersList extends ClientCommand {
  static override summary = "List the people that the identity provider has sent.";
  static override endpoints = [scimApi.users];
  static override flags = {
    filter: Flags.string({ summary: 'SCIM filter, e.g. userName eq "ann@example.com".', helpValue: "FILTER" }),
    ...limitFlags,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    `<%= config.bin %> <%= command.id %> --filter 'emails[type eq "work"].value eq "ann@example.com"'`,
  ];

  async run() {
    const { flags } = await this.parse(ScimUsersList);
    await this.printList(scimResources(this, "users", flags.filter), personView);
  }
}
