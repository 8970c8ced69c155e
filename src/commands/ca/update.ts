import { type ChangeCa, caApi, secretFields } from "../../api/certificates/ca.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { authorityFields, authorityIn, caFlags, findAuthority, skipCheckFlag } from "../../cli/topics/ca.ts";

export default class CaUpdate extends ClientCommand {
  static override summary = "Change a certificate authority.";
  static override description =
    "A new URL requires the secret again, because the stored secret is not sent to another address.";
  static override endpoints = [caApi.modify];
  static override args = { authority: args.required("name or id of the certificate authority") };
  static override flags = { ...caFlags, ...skipCheckFlag, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> WIFI --challenge-file challenge.txt --skip-check",
    "<%= config.bin %> <%= command.id %> WIFI --name OFFICE",
  ];

  async run() {
    const { args, flags } = await this.parse(CaUpdate);
    const { id, name, type } = await findAuthority(this, args.authority);
    const input = await readBody(this.io, flags.input);
    const fields: Record<string, unknown> = {
      ...authorityIn(type, input),
      ...(await authorityFields(this, type, flags)),
    };
    if (Object.keys(fields).length === 0)
      throw usage("nothing to change", "Give the fields to change by flags or --input.");
    const body = { [type]: fields } as ChangeCa;
    if (flags["dry-run"]) {
      this.validate(caApi.modify, body);
      const before = await this.call(caApi.get, { params: { id } });
      const { [secretFields[type]]: secret, ...plain } = fields;
      const changes = changesOf(before, plain);
      if (secret !== undefined) changes.push({ field: secretFields[type], to: "(secret)" });
      this.trying(`change certificate authority ${name}`, { id, name, type }, changes);
    }
    await this.call(caApi.modify, {
      params: { id },
      query: { skip_check: flags["skip-check"] },
      body,
    });
    await this.report(`changed certificate authority ${name}`, { id, name: fields.name ?? name, type });
  }
}
