import { ScimUser, scimApi, scimUrns } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../../cli/flags.ts";
import { attributesOf, personFlags } from "../../../cli/topics/scim/flags.ts";
import { findPerson, personArg } from "../../../cli/topics/scim/people.ts";
import { printable } from "../../../text/printable.ts";

export default class ScimUsersUpdate extends ClientCommand {
  static override summary = "Change attributes of a person.";
  static override description = "With --input, the file is the body of a SCIM PATCH: an object with Operations.";
  static override endpoints = [scimApi.patchUser];
  static override args = { person: personArg };
  static override flags = { ...personFlags, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> ann@example.com --department Engineering",
    "<%= config.bin %> <%= command.id %> ann@example.com --no-active",
  ];

  async run() {
    const { args, flags } = await this.parse(ScimUsersUpdate);
    const { Operations: fromInput = [] } = await readBody(this.io, flags.input);
    const changes = Object.entries(attributesOf(flags)).map(([path, value]) => ({ op: "replace", path, value }));
    const Operations = [...(Array.isArray(fromInput) ? fromInput : []), ...changes];
    if (Operations.length === 0) throw usage("nothing would change", "Give attributes, such as --department.");
    const { id, userName } = await findPerson(this, args.person);
    if (flags["dry-run"]) this.trying(`change the person ${printable(userName)}`, { id, Operations });
    const changed = await this.call(scimApi.patchUser, {
      params: { id },
      body: { schemas: [scimUrns.patch], Operations },
    });
    await this.report(`changed the person ${printable(changed.userName)}`, changed, { schema: () => ScimUser });
  }
}
