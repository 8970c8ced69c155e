import * as Flags from "@oclif/core/flags";
import { type ModifyUser, type User, usersApi } from "../../api/accounts/users.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody, readSecret, secretFlags } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { userFields, userFlags } from "../../cli/topics/users.ts";

export default class UsersUpdate extends ClientCommand {
  static override summary = "Change a user.";
  static override description =
    "A person whose roles change is signed out. An API-only user keeps its tokens, with the new rights at once.";
  static override endpoints = [usersApi.modify];
  static override args = { user: args.user };
  static override flags = {
    ...userFlags,
    "api-only": Flags.boolean({ summary: "Whether this is a user for programs.", allowNo: true }),
    ...secretFlags("password", "your current password (to change your own email)"),
    ...secretFlags("new-password", "the new password"),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> observer@example.com --position Operations"];

  async run() {
    const { args, flags } = await this.parse(UsersUpdate);
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
    const before = await this.user(args.user);
    const change = body as ModifyUser;
    if (flags["dry-run"]) {
      this.trying(`change user ${before.email}`, { id: before.id, email: before.email }, changesOf(before, body));
    }
    const { user } = await this.call(usersApi.modify, { params: { id: before.id }, body: change });
    await this.report(`changed user ${user.email}`, user);
    if (before.api_only && rolesOf(before) !== rolesOf(user))
      this.note(`the tokens of ${user.email} stay valid, with the rights of the new roles`);
    const email = typeof body.email === "string" ? body.email.trim().toLowerCase() : user.email;
    if (email !== user.email)
      this.note(`${email} must be confirmed with the mailed link: open it, or use \`svc users confirm-email\``);
  }
}

const rolesOf = ({ global_role, teams }: User): string =>
  JSON.stringify([global_role, teams.map(({ id, role }) => [id, role])]);
