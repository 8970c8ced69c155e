import * as Flags from "@oclif/core/flags";
import { packsApi } from "../../api/checks/packs.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readValue } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class PacksApply extends ClientCommand {
  static override summary = "Create or change packs from a file in one transaction.";
  static override description =
    "The file (JSON or YAML) contains a list of packs, or an object with that list under specs. A pack is replaced completely, with its " +
    "targets and queries; packs that are not in the file are kept.";
  static override endpoints = [packsApi.applySpecs];
  static override flags = {
    input: Flags.string({ summary: "File with the packs; - is stdin.", helpValue: "FILE", required: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --input packs.yml"];

  async run() {
    const { flags } = await this.parse(PacksApply);
    const value = await readValue(this.io, flags.input);
    const specs = Array.isArray(value) ? value : (value as { specs?: unknown } | null)?.specs;
    if (!Array.isArray(specs))
      throw usage(
        "--input: must contain a list of packs",
        "A pack of osquery is applied as a file: `svc apply -f FILE.conf`.",
      );
    const body = { specs };
    this.validate(packsApi.applySpecs, body);
    const names = specs.map(({ name }: { name?: string }) => name ?? "");
    if (flags["dry-run"]) this.trying(`apply ${plural(names.length, "pack")}`, names);
    await this.call(packsApi.applySpecs, { body });
    await this.report(`applied ${plural(names.length, "pack")}`, { applied: names });
  }
}
