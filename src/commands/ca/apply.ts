import * as Flags from "@oclif/core/flags";
import { type CaSpecs, caApi } from "../../api/certificates/ca.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readValue } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { skipCheckFlag } from "../../cli/topics/ca.ts";

export default class CaApply extends ClientCommand {
  static override summary = "Create or change certificate authorities from a file in one transaction.";
  static override description =
    "The file (JSON or YAML) contains the authorities in groups by type, as `svc ca list --spec` prints them. They are matched by name; " +
    "authorities that are not in the file are kept. A masked secret stays unchanged.";
  static override endpoints = [caApi.applySpecs];
  static override flags = {
    input: Flags.string({ summary: "File with the authorities; - is stdin.", helpValue: "FILE", required: true }),
    ...skipCheckFlag,
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --input cas.yml --skip-check"];

  async run() {
    const { flags } = await this.parse(CaApply);
    const value = (await readValue(this.io, flags.input)) as { certificate_authorities?: unknown } | null;
    const groups = value?.certificate_authorities ?? value;
    if (typeof groups !== "object" || groups === null || Array.isArray(groups))
      throw usage("--input: must contain authorities in groups by type");
    const body = { certificate_authorities: groups as CaSpecs };
    this.validate(caApi.applySpecs, body);
    const names = Object.entries(groups).flatMap(([type, group]) =>
      [group ?? []].flat().map((authority: { name?: string }) => authority.name ?? type),
    );
    const query = { skip_check: flags["skip-check"], dry_run: flags["dry-run"] };
    await this.call(caApi.applySpecs, { query, body });
    const counted = names.length === 1 ? "1 certificate authority" : `${names.length} certificate authorities`;
    if (flags["dry-run"]) return this.printPlan(`apply ${counted}`, names);
    await this.report(`applied ${counted}`, { applied: names });
  }
}
