import * as Flags from "@oclif/core/flags";
import { queriesApi } from "../../api/checks/queries.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readValue } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class QueriesApply extends ClientCommand {
  static override summary = "Create or change queries from a file in one transaction.";
  static override description =
    "The file (JSON or YAML) contains a list of queries, or an object with that list under specs. Queries are matched by name and " +
    "team; fields that an entry omits get their defaults. Queries that are not in the file are kept.";
  static override endpoints = [queriesApi.applySpecs];
  static override flags = {
    input: Flags.string({ summary: "File with the queries; - is stdin.", helpValue: "FILE", required: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --input queries.yml"];

  async run() {
    const { flags } = await this.parse(QueriesApply);
    const value = await readValue(this.io, flags.input);
    const specs = Array.isArray(value) ? value : (value as { specs?: unknown } | null)?.specs;
    if (!Array.isArray(specs)) throw usage("--input: must contain a list of queries");
    const body = { specs };
    this.validate(queriesApi.applySpecs, body);
    const names = specs.map(({ name }: { name?: string }) => name ?? "");
    const what = plural(names.length, "query", "queries");
    if (flags["dry-run"]) this.trying(`apply ${what}`, names);
    await this.call(queriesApi.applySpecs, { body });
    await this.report(`applied ${what}`, { applied: names });
  }
}
