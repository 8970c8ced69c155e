import * as Flags from "@oclif/core/flags";
import { type ModifyUser, usersApi } from "../../api/users.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { readBody, readSecret, secretFlags } from "../../cli/input.ts";
import { userFields, userFlags } from "../../cli/user-view.ts";

export default class UsersUpdate extends ClientCommand {
  static override summary = "Change a user.";
  static override endpoints = [usersApi.modify];
  static override args = { user: args.user };
  static override flags = {
    ...userFlags,
    "api-only": Flags.boolean({ summary: "A user for programs.", allowNo: true }),
    ...secretFlags("password", "your present password (to change your own email)"),
    ...secretFlags("new-password", "the new password"),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> observer@example.com --position Operations"];

  async run() {
    const { args: given, flags } = await this.parse(UsersUpdate);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(await userFields(this.findTeam, flags)),
    };
    if (flags["api-only"] !== undefined) body.api_only = flags["api-only"];
    const password = await readSecret(this.io, flags, "password");
    const fresh = await readSecret(this.io, flags, "new-password");
    if (password !== undefined) body.password = password;
    if (fresh !== undefined) body.new_password = fresh;
    if (Object.keys(body).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const before = await this.user(given.user);
    const change = body as ModifyUser;
    if (flags["dry-run"]) {
      this.validate(usersApi.modify, change);
      return this.printPlan(
        `change user ${before.email}`,
        { id: before.id, email: before.email },
        changesOf(before, body),
      );
    }
    const { user } = await this.call(usersApi.modify, { params: { id: before.id }, body: change });
    await this.report(`changed user ${user.email}`, user);
    const email = typeof body.email === "string" ? body.email.trim().toLowerCase() : user.email;
    if (email !== user.email)
      this.note(`${email} waits for the link that was mailed there: \`svc users confirm-email\`, or the web page`);
  }
}
