import { ScimUser, scimApi } from "../../../api/hosts/scim.ts";
import { changesOf } from "../../../cli/base-command.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { readBody } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../../cli/flags.ts";
import { personFlags, personOf } from "../../../cli/topics/scim/flags.ts";
import { printable } from "../../../text/printable.ts";

export default class ScimUsersCreate extends ClientCommand {
  static override summary = "Create a person, as an identity provider does.";
  static override description =
    "Hosts on which somebody has signed in with this user name, or with one of these addresses, show the person as their user.";
  static override endpoints = [scimApi.createUser];
  static override flags = { ...personFlags, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --user-name bob@example.com --display-name 'Bob B.' --department Sales",
  ];

  async run() {
    const { flags } = await this.parse(ScimUsersCreate);
    const input = { ...(await readBody(this.io, flags.input)), ...personOf(flags) };
    const userName =
      typeof input.userName === "string" ? input.userName : await this.askText("User name", "--user-name");
    const body = { ...input, userName };
    if (flags["dry-run"]) this.trying(`create the person ${printable(userName)}`, null, changesOf({}, body));
    const created = await this.call(scimApi.createUser, { body });
    await this.report(`created the person ${printable(created.userName)} (${created.id})`, created, {
      schema: () => ScimUser,
    });
  }
}
