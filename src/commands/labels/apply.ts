import * as Flags from "@oclif/core/flags";
import { labelsApi } from "../../api/hosts/labels.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readValue } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class LabelsApply extends ClientCommand {
  static override summary = "Create or change labels from a file in one transaction.";
  static override description =
    "The file (JSON or YAML) contains a list of labels, or an object with that list under specs. Labels are matched by name; labels " +
    "that are not in the file are kept. A label whose query changes has no members until hosts report results.";
  static override endpoints = [labelsApi.applySpecs];
  static override flags = {
    input: Flags.string({ summary: "File with the labels; - is stdin.", helpValue: "FILE", required: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --input labels.yml"];

  async run() {
    const { flags } = await this.parse(LabelsApply);
    const value = await readValue(this.io, flags.input);
    const specs = Array.isArray(value) ? value : (value as { specs?: unknown } | null)?.specs;
    if (!Array.isArray(specs)) throw usage("--input: must contain a list of labels");
    const body = { specs };
    this.validate(labelsApi.applySpecs, body);
    const names = specs.map(({ name }: { name: string }) => name);
    if (flags["dry-run"]) {
      const { labels } = await this.call(labelsApi.summary);
      const existing = new Set(labels.map(({ name }) => name));
      const fresh = names.filter((name) => !existing.has(name.normalize("NFC").trim()));
      this.trying(
        `create ${plural(fresh.length, "label")}, change or keep ${names.length - fresh.length}`,
        names,
        fresh.map((name) => ({ field: name, to: "new" })),
      );
    }
    await this.call(labelsApi.applySpecs, { body });
    await this.report(`applied ${plural(names.length, "label")}`, { applied: names });
  }
}
