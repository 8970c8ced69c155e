import * as Flags from "@oclif/core/flags";
import { teamsApi } from "../../api/settings/teams.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readValue } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class TeamsApply extends ClientCommand {
  static override summary = "Create or change teams from a file in one transaction.";
  static override description =
    "The file (JSON or YAML) contains a list of teams, or an object with that list under specs. Teams are matched by name. Fields that " +
    "an entry omits stay unchanged, and teams that are not in the file are kept.";
  static override endpoints = [teamsApi.applySpecs];
  static override flags = {
    input: Flags.string({ summary: "File with the teams; - is stdin.", helpValue: "FILE", required: true }),
    force: Flags.boolean({ summary: "Skip the checks of agent options, and ignore unknown keys." }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --input teams.yml"];

  async run() {
    const { flags } = await this.parse(TeamsApply);
    const value = await readValue(this.io, flags.input);
    const specs = Array.isArray(value) ? value : (value as { specs?: unknown } | null)?.specs;
    if (!Array.isArray(specs)) throw usage("--input: must contain a list of teams");
    const body = { specs };
    this.validate(teamsApi.applySpecs, body);
    const names = specs.map(({ name }: { name?: unknown }) => String(name));
    const query = { force: flags.force, dry_run: flags["dry-run"] };
    const { team_ids_by_name: ids } = await this.call(teamsApi.applySpecs, { query, body });
    if (!flags["dry-run"]) return this.report(`applied ${plural(names.length, "team")}`, { team_ids_by_name: ids });
    const existing = new Set(Object.keys(ids));
    const fresh = names.filter((name) => !existing.has(name.normalize("NFC").trim()));
    return this.printPlan(
      `create ${plural(fresh.length, "team")}, change or keep ${names.length - fresh.length}`,
      names,
      fresh.map((name) => ({ field: name, to: "new" })),
    );
  }
}
