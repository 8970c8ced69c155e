import * as Flags from "@oclif/core/flags";
import { ScimGroup, scimApi } from "../../../api/hosts/scim.ts";
import { changesOf } from "../../../cli/base-command.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag, listOf } from "../../../cli/flags.ts";
import { peopleReferences } from "../../../cli/topics/scim/people.ts";
import { printable } from "../../../text/printable.ts";

export default class ScimGroupsCreate extends ClientCommand {
  static override summary = "Create a group of people, as an identity provider does.";
  static override endpoints = [scimApi.createGroup];
  static override flags = {
    "display-name": Flags.string({ summary: "Name of the group." }),
    "external-id": Flags.string({ summary: "Id at the identity provider." }),
    members: Flags.string({ summary: "User names or ids of its members.", multiple: true, helpValue: "PERSON" }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --display-name Engineering --members ann@example.com",
  ];

  async run() {
    const { flags } = await this.parse(ScimGroupsCreate);
    const input: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(flags["display-name"] === undefined ? {} : { displayName: flags["display-name"] }),
      ...(flags["external-id"] === undefined ? {} : { externalId: flags["external-id"] }),
      ...(flags.members === undefined ? {} : { members: await peopleReferences(this, listOf(flags.members)) }),
    };
    const displayName =
      typeof input.displayName === "string" ? input.displayName : await this.askText("Name", "--display-name");
    const body = { ...input, displayName };
    if (flags["dry-run"]) this.trying(`create the group ${printable(displayName)}`, null, changesOf({}, body));
    const created = await this.call(scimApi.createGroup, { body });
    await this.report(`created the group ${printable(created.displayName)} (${created.id})`, created, {
      schema: () => ScimGroup,
    });
  }
}
