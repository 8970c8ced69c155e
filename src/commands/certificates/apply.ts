import * as Flags from "@oclif/core/flags";
import { certificatesApi } from "../../api/certificates/certificates.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readValue } from "../../cli/files/input.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { plural } from "../../text/plural.ts";

export default class CertificatesApply extends ClientCommand {
  static override summary = "Create or change certificate templates from a file in one transaction.";
  static override description =
    "The file (JSON or YAML) contains a list of templates (name, team, certificate_authority_id, subject_name, subject_alternative_name), or an object with that list under specs. " +
    "They are matched by team and name; templates that are not in the file are kept.";
  static override endpoints = [certificatesApi.applySpecs];
  static override flags = {
    input: Flags.string({ summary: "File with the templates; - is stdin.", helpValue: "FILE", required: true }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --input certificates.yml"];

  async run() {
    const { flags } = await this.parse(CertificatesApply);
    const value = await readValue(this.io, flags.input);
    const specs = Array.isArray(value) ? value : (value as { specs?: unknown } | null)?.specs;
    if (!Array.isArray(specs)) throw usage("--input: must contain a list of templates");
    const body = { specs };
    this.validate(certificatesApi.applySpecs, body);
    const names = specs.map(({ name }: { name: string }) => name);
    const what = plural(names.length, "certificate template");
    if (flags["dry-run"]) this.trying(`apply ${what}`, names);
    await this.call(certificatesApi.applySpecs, { body });
    await this.report(`applied ${what}`, { applied: names });
  }
}
