import * as Flags from "@oclif/core/flags";
import { variablesApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody, readSecret } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { MASKING, notMasked, SCOPE, scopeFlags, scopeIn, valueFlags } from "../../cli/topics/variables.ts";
import { printable } from "../../text/printable.ts";

export default class VariablesCreate extends ClientCommand {
  static override summary = "Create a custom variable: a secret that scripts and profiles name.";
  static override description =
    "Texts name it as $SVC_SECRET_NAME. Hosts get its value in place of that; the server stores it encrypted and never returns it. " +
    `${MASKING} ${SCOPE}`;
  static override endpoints = [variablesApi.create];
  static override flags = {
    name: Flags.string({ summary: "Name, without the prefix SVC_SECRET_." }),
    ...valueFlags,
    ...scopeFlags,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name API_TOKEN --value-file token.txt",
    "<%= config.bin %> <%= command.id %> --name WIFI_PASSWORD --value-file token.txt --team Workstations --use profiles",
  ];

  async run() {
    const { flags } = await this.parse(VariablesCreate);
    const input = await readBody(this.io, flags.input);
    const name = flags.name ?? input.name ?? (await this.askText("Name", "--name"));
    const value =
      (await readSecret(this.io, flags, "value")) ??
      input.value ??
      (await this.askNewSecret("Value", "--value-stdin or --value-file"));
    const scope = await scopeIn(flags, async (team) => (await this.team(team)).id);
    if (flags["dry-run"]) this.trying(`create the custom variable ${printable(String(name))}`, { name, ...scope });
    const body = { ...input, ...scope, name: name as string, value: value as string };
    const created = await this.call(variablesApi.create, { body });
    const warning = notMasked(created.name, value);
    if (warning !== null) this.note(warning);
    await this.report(`created the custom variable ${created.name} (${created.id})`, created);
  }
}
