import { variablesApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { variableArg, variableNamed } from "../../cli/topics/variables.ts";

export default class VariablesDelete extends ClientCommand {
  static override summary = "Delete a custom variable that nothing uses.";
  static override destructive = true;
  static override endpoints = [variablesApi.delete];
  static override args = { variable: variableArg };
  static override flags = { ...yesFlag, ...dryRunFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> API_TOKEN --yes"];

  async run() {
    const { args, flags } = await this.parse(VariablesDelete);
    const { custom_variables: all } = await this.call(variablesApi.list);
    const { id, name } = variableNamed(all, args.variable);
    if (flags["dry-run"]) this.trying(`delete the custom variable ${name}`, { id, name });
    await this.confirm(`Delete the custom variable ${name}?`);
    await this.call(variablesApi.delete, { params: { id } });
    await this.report(`deleted the custom variable ${name}`, { id, name });
  }
}
