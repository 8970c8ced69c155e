import * as Flags from "@oclif/core/flags";
import { policiesApi } from "../../api/checks/policies.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readValue } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { countOf } from "../../cli/topics/policies.ts";

export default class PoliciesApply extends ClientCommand {
  static override summary = "Create or change policies from a file in one transaction.";
  static override description =
    "The file (JSON or YAML) contains a list of policies, or an object with that list under specs. Policies are matched by name " +
    "within their team; policies that are not in the file are kept. An existing policy keeps its platform.";
  static override endpoints = [policiesApi.applySpecs];
  static override flags = {
    input: Flags.string({ summary: "File with the policies; - is stdin.", helpValue: "FILE", required: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --input policies.yml"];

  async run() {
    const { flags } = await this.parse(PoliciesApply);
    const value = await readValue(this.io, flags.input);
    const specs = Array.isArray(value) ? value : (value as { specs?: unknown } | null)?.specs;
    if (!Array.isArray(specs)) throw usage("--input: must contain a list of policies");
    const body = { specs };
    this.validate(policiesApi.applySpecs, body);
    const applied = specs.map(({ name, team }: { name?: string; team?: string }) => ({ name, team: team ?? null }));
    const what = countOf(applied.length);
    if (flags["dry-run"]) this.trying(`create or change ${what}`, applied);
    await this.call(policiesApi.applySpecs, { body });
    await this.report(`applied ${what}`, { applied: applied.length, policies: applied });
  }
}
