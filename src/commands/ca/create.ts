import * as Flags from "@oclif/core/flags";
import { type CreateCa, caApi, caFields, caTypes, isSingle, secretFields } from "../../api/certificates/ca.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { authorityFields, authorityIn, caFlags, skipCheckFlag, typeIn } from "../../cli/topics/ca.ts";

export default class CaCreate extends ClientCommand {
  static override summary = "Add a certificate authority.";
  static override description =
    "The server first checks the settings by connecting to the authority: it requests the certificate of a SCEP or EST service, and a challenge or the profile " +
    "of the others. --skip-check skips this check. If no flag sets the secret, the command prompts for it.";
  static override endpoints = [caApi.create];
  static override flags = {
    type: Flags.option({ options: caTypes })({ summary: "Kind of authority." }),
    ...caFlags,
    ...skipCheckFlag,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --type custom_scep_proxy --name VPN --url https://scep.example.com/scep --challenge-file challenge.txt --skip-check",
    "<%= config.bin %> <%= command.id %> --input ca.json --skip-check",
  ];

  async run() {
    const { flags } = await this.parse(CaCreate);
    const input = await readBody(this.io, flags.input);
    const type = flags.type ?? typeIn(input);
    if (!type) throw usage("--type TYPE is required", `Types: ${caTypes.join(", ")}`);
    const fields: Record<string, unknown> = {
      ...authorityIn(type, input),
      ...(await authorityFields(this, type, flags)),
    };
    const secret = secretFields[type];
    for (const [field, schema] of Object.entries(caFields[type])) {
      const flag = field.replaceAll("_", "-");
      if (fields[field] !== undefined || schema.safeParse(undefined).success) continue;
      if (field !== secret) fields[field] = await this.askText(field, `--${flag}`);
    }
    fields[secret] ??= await this.askSecret(`The ${secret}`, `--${secret.replaceAll("_", "-")}-stdin or -file`);
    const body = { [type]: fields } as unknown as CreateCa;
    const name = isSingle(type) ? type : String(fields.name);
    if (flags["dry-run"]) {
      this.trying(`add certificate authority ${name}`, { type }, hidden(secret, changesOf({}, fields)));
    }
    const ca = await this.call(caApi.create, { query: { skip_check: flags["skip-check"] }, body });
    await this.report(`added certificate authority ${ca.name} (${ca.id})`, ca);
  }
}

const hidden = (secret: string, changes: ReturnType<typeof changesOf>) =>
  changes.map((change) => (change.field === secret ? { field: secret, to: "(secret)" } : change));
