import * as Flags from "@oclif/core/flags";
import { ScimGroup, scimApi } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag, listOf } from "../../../cli/flags.ts";
import { findPersonGroup, peopleReferences, personGroupArg } from "../../../cli/topics/scim/people.ts";
import { printable } from "../../../text/printable.ts";

export default class ScimGroupsReplace extends ClientCommand {
  static override summary = "Replace a group of people: these are its only members afterwards.";
  static override endpoints = [scimApi.replaceGroup];
  static override args = { group: personGroupArg };
  static override flags = {
    "display-name": Flags.string({ summary: "New name." }),
    "external-id": Flags.string({ summary: "Id at the identity provider." }),
    members: Flags.string({ summary: "User names or ids of its members.", multiple: true, helpValue: "PERSON" }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> Sales --members ann@example.com"];

  async run() {
    const { args, flags } = await this.parse(ScimGroupsReplace);
    const input: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(flags["display-name"] === undefined ? {} : { displayName: flags["display-name"] }),
      ...(flags["external-id"] === undefined ? {} : { externalId: flags["external-id"] }),
      ...(flags.members === undefined ? {} : { members: await peopleReferences(this, listOf(flags.members)) }),
    };
    const { id, displayName: before } = await findPersonGroup(this, args.group);
    const body = { ...input, displayName: typeof input.displayName === "string" ? input.displayName : before };
    if (flags["dry-run"]) this.trying(`replace the group ${printable(before)}`, { id, ...body });
    const changed = await this.call(scimApi.replaceGroup, { params: { id }, body });
    await this.report(`replaced the group ${printable(changed.displayName)}`, changed, { schema: () => ScimGroup });
  }
}
