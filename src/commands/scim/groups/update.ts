import * as Flags from "@oclif/core/flags";
import { ScimGroup, scimApi, scimUrns } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag, listOf } from "../../../cli/flags.ts";
import { findPersonGroup, peopleReferences, personGroupArg } from "../../../cli/topics/scim/people.ts";
import { printable } from "../../../text/printable.ts";

export default class ScimGroupsUpdate extends ClientCommand {
  static override summary = "Rename a group of people, or add and remove members.";
  static override description = "With --input, the file is the body of a SCIM PATCH: an object with Operations.";
  static override endpoints = [scimApi.patchGroup];
  static override args = { group: personGroupArg };
  static override flags = {
    "display-name": Flags.string({ summary: "New name." }),
    "external-id": Flags.string({ summary: "Id at the identity provider." }),
    add: Flags.string({ summary: "User names or ids of new members.", multiple: true, helpValue: "PERSON" }),
    remove: Flags.string({ summary: "User names or ids of members to remove.", multiple: true, helpValue: "PERSON" }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Sales --add ann@example.com",
    "<%= config.bin %> <%= command.id %> Sales --display-name 'Sales and marketing'",
  ];

  async run() {
    const { args, flags } = await this.parse(ScimGroupsUpdate);
    const { Operations: fromInput = [] } = await readBody(this.io, flags.input);
    const names = { displayName: flags["display-name"], externalId: flags["external-id"] };
    const people = async (op: "add" | "remove", members: string[] | undefined) =>
      members === undefined ? [] : [{ op, path: "members", value: await peopleReferences(this, listOf(members)) }];
    const Operations = [
      ...(Array.isArray(fromInput) ? fromInput : []),
      ...Object.entries(names).flatMap(([path, value]) =>
        value === undefined ? [] : [{ op: "replace", path, value }],
      ),
      ...(await people("add", flags.add)),
      ...(await people("remove", flags.remove)),
    ];
    if (Operations.length === 0) throw usage("nothing would change", "Give --display-name, --add or --remove.");
    const { id, displayName } = await findPersonGroup(this, args.group);
    if (flags["dry-run"]) this.trying(`change the group ${printable(displayName)}`, { id, Operations });
    const changed = await this.call(scimApi.patchGroup, {
      params: { id },
      body: { schemas: [scimUrns.patch], Operations },
    });
    await this.report(`changed the group ${printable(changed.displayName)}`, changed, { schema: () => ScimGroup });
  }
}
