import * as Flags from "@oclif/core/flags";
import { RolesSpec, usersApi } from "../../api/users.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { readValue } from "../../cli/input.ts";
import { plural } from "../../cli/text.ts";

export default class UsersApplyRoles extends ClientCommand {
  static override summary = "Give users the roles of a file, all or none.";
  static override description =
    "The file has roles by email, JSON or YAML: {EMAIL: {global_role: ROLE} or {teams: [{team: NAME, role: ROLE}]}}, as " +
    "it is or under roles or spec. Users that it does not name keep theirs; whose roles change is signed out.";
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
      const told = emails.map((email) => {
        const { global_role, teams } = spec.roles[email]!;
        return {
          field: email,
          to: global_role ?? (teams ?? []).map(({ team, role }) => `${role} (${team})`).join(", "),
        };
      });
      return this.printPlan(`set the roles of ${plural(emails.length, "user")}`, emails, told);
    }
    await this.call(usersApi.applyRoles, { body: { spec } });
    await this.report(`set the roles of ${plural(emails.length, "user")}`, { applied: emails });
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** As it is, under `roles`, or under `spec` as the API has it. */
function rolesIn(value: unknown): RolesSpec {
  const whole = isObject(value) && isObject(value.spec) ? value.spec : value;
  const roles = isObject(whole) && isObject(whole.roles) ? whole.roles : whole;
  const read = RolesSpec.safeParse({ roles });
  if (!read.success) {
    const [issue] = read.error.issues;
    throw usage(`--file: ${issue?.path.slice(1).join(".") || "roles"}: ${issue?.message ?? "not roles by email"}`);
  }
  return read.data;
}
