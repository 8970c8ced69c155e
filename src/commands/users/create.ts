import { randomBytes } from "node:crypto";
import * as Flags from "@oclif/core/flags";
import { type CreateUser, usersApi } from "../../api/accounts/users.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody, readSecret, secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { userFields, userFlags } from "../../cli/topics/users.ts";

export default class UsersCreate extends ClientCommand {
  static override summary = "Create a user.";
  static override description =
    "The token of an API-only user is printed once, on stdout. The password of any other user is read from a prompt, a file, " +
    "stdin, or SVC_USER_PASSWORD.";
  static override endpoints = [usersApi.create];
  static override flags = {
    ...userFlags,
    "api-only": Flags.boolean({ summary: "Create a user for programs, with a token that does not expire." }),
    "admin-forced-password-reset": Flags.boolean({
      summary: "Require a new password at the first sign-in (default).",
      allowNo: true,
    }),
    ...secretFlags("password", "the password"),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name Grace --email grace@example.com --global-role observer --password-file password.txt",
  ];

  async run() {
    const { flags } = await this.parse(UsersCreate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(await userFields(this.findTeam, flags)),
    };
    if (flags["api-only"]) body.api_only = true;
    const reset = flags["admin-forced-password-reset"];
    if (reset !== undefined) body.admin_forced_password_reset = reset;
    body.name ??= await this.askText("Name", "--name");
    body.email ??= await this.askText("Email", "--email");
    const password = await readSecret(this.io, flags, "password", "SVC_USER_PASSWORD");
    if (password !== undefined) body.password = password;
    else if (body.api_only === true) {
      // An API-only user signs in by token only: nobody should know its password or have to change it.
      body.password ??= `${randomBytes(24).toString("base64url")}-1aA`;
      body.admin_forced_password_reset ??= false;
    } else if (body.password === undefined && body.sso_enabled !== true) {
      body.password = await this.askSecret("Password", "--password-stdin, --password-file or SVC_USER_PASSWORD");
    }
    const user = body as unknown as CreateUser;
    if (flags["dry-run"]) {
      this.trying(`create user ${user.email}`, null, changesOf({}, body));
    }
    const reply = await this.call(usersApi.create, { body: user });
    await this.report(`created user ${reply.user.email} (${reply.user.id})`, {
      ...reply.user,
      ...(reply.token ? { token: reply.token } : {}),
    });
    if (reply.token && !this.structured) {
      this.note("the token, shown only now:");
      this.log(reply.token);
    }
  }
}
