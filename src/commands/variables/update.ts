import { variablesApi } from "../../api/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody, readSecret } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { MASKING, notMasked, valueFlags, variableArg, variableNamed } from "../../cli/views/variable.ts";

export default class VariablesUpdate extends ClientCommand {
  static override summary = "Change the value of a custom variable.";
  static override description = `Profiles that use it are sent to their hosts again. ${MASKING}`;
  static override endpoints = [variablesApi.apply];
  static override args = { variable: variableArg };
  static override flags = { ...valueFlags, ...inputFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> API_TOKEN --value-file token.txt"];

  async run() {
    const { args: given, flags } = await this.parse(VariablesUpdate);
    const { custom_variables: all } = await this.call(variablesApi.list);
    const { id, name } = variableNamed(all, given.variable);
    const value =
      (await readSecret(this.io, flags, "value")) ??
      (await readBody(this.io, flags.input)).value ??
      (await this.askNewSecret("Value", "--value-stdin or --value-file"));
    if (flags["dry-run"]) this.trying(`change the custom variable ${name}`, { id, name });
    await this.call(variablesApi.apply, { body: { secrets: [{ name, value: value as string }] } });
    const warning = notMasked(name, value);
    if (warning !== null) this.note(warning);
    await this.report(`changed the custom variable ${name}`, { id, name });
  }
}
