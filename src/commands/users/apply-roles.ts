import * as Flags from "@oclif/core/flags";
import { RolesSpec, usersApi } from "../../api/accounts/users.ts";
import { issueText } from "../../api/issue-text.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readValue } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";
import { isRecord } from "../../text/record.ts";

export default class UsersApplyRoles extends ClientCommand {
  static override summary = "Set the roles of users from a file in one transaction.";
  static override description =
    "The file (JSON or YAML) contains roles by email: {EMAIL: {global_role: ROLE} or {teams: [{team: NAME, role: ROLE}]}}, at the top " +
    "level, or under roles or spec. Users that are not in the file keep their roles. A person whose roles change is signed " +
    "out; an API-only user keeps its tokens, with the new rights at once.";
  static override endpoints = [usersApi.applyRoles];
  static override flags = {
    file: Flags.string({
      char: "f",
      aliases: ["input"],
      summary: "File with the roles; - is stdin.",
      helpValue: "FILE",
      required: true,
    }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> -f roles.yml"];

  async run() {
    const { flags } = await this.parse(UsersApplyRoles);
    const spec = rolesIn(await readValue(this.io, flags.file));
    this.validate(usersApi.applyRoles, { spec });
    const emails = Object.keys(spec.roles);
    if (flags["dry-run"]) {
      const changes = emails.map((email) => {
        const { global_role, teams } = spec.roles[email]!;
        return {
          field: email,
          to: global_role ?? (teams ?? []).map(({ team, role }) => `${role} (${team})`).join(", "),
        };
      });
      this.trying(`set the roles of ${plural(emails.length, "user")}`, emails, changes);
    }
    await this.call(usersApi.applyRoles, { body: { spec } });
    await this.report(`set the roles of ${plural(emails.length, "user")}`, { applied: emails });
  }
}

/** Roles at the top level, under `roles`, or under `spec` as in the API. */
function rolesIn(value: unknown): RolesSpec {
  const whole = isRecord(value) && isRecord(value.spec) ? value.spec : value;
  const roles = isRecord(whole) && isRecord(whole.roles) ? whole.roles : whole;
  const read = RolesSpec.safeParse({ roles });
  if (!read.success) {
    const issue = read.error.issues[0]!;
    const at = issue.path.slice(1).join(".");
    const isMap = isRecord(roles);
    throw usage(
      isMap ? `--file: ${at || "roles"}: ${issueText(issue)}` : "--file: must be a map of emails to roles",
      "Example: ann@example.com: {global_role: observer}",
    );
  }
  return read.data;
}
