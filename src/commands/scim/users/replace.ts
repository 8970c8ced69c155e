import { ScimUser, scimApi } from "../../../api/hosts/scim.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../../cli/flags.ts";
import { personFlags, personOf } from "../../../cli/topics/scim/flags.ts";
import { findPerson, personArg } from "../../../cli/topics/scim/people.ts";
import { printable } from "../../../text/printable.ts";

export default class ScimUsersReplace extends ClientCommand {
  static override summary = "Replace all attributes of a person. Attributes that are not given are removed.";
  static override endpoints = [scimApi.replaceUser];
  static override args = { person: personArg };
  static override flags = { ...personFlags, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> ann@example.com --display-name 'Ann A.' --email ann@example.com",
  ];

  async run() {
    const { args, flags } = await this.parse(ScimUsersReplace);
    const input = { ...(await readBody(this.io, flags.input)), ...personOf(flags) };
    const { id, userName } = await findPerson(this, args.person);
    const body = { ...input, userName: typeof input.userName === "string" ? input.userName : userName };
    if (flags["dry-run"]) this.trying(`replace the person ${printable(userName)}`, { id, ...body });
    const changed = await this.call(scimApi.replaceUser, { params: { id }, body });
    await this.report(`replaced the person ${printable(changed.userName)}`, changed, { schema: () => ScimUser });
  }
}
