import { variablesApi } from "../../api/settings/variables.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody, readSecret } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import {
  MASKING,
  notMasked,
  SCOPE,
  scopeFlags,
  scopeIn,
  valueFlags,
  variableArg,
  variableNamed,
} from "../../cli/topics/variables.ts";

export default class VariablesUpdate extends ClientCommand {
  static override summary = "Change the value of a custom variable, or where it may be used.";
  static override description = `Profiles that use it are sent to their hosts again. ${MASKING} ${SCOPE}`;
  static override endpoints = [variablesApi.modify, variablesApi.apply];
  static override args = { variable: variableArg };
  static override flags = { ...valueFlags, ...scopeFlags, ...inputFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> API_TOKEN --value-file token.txt",
    "<%= config.bin %> <%= command.id %> API_TOKEN --team Workstations --use scripts --use software",
  ];

  async run() {
    const { args, flags } = await this.parse(VariablesUpdate);
    const { custom_variables: all } = await this.call(variablesApi.list);
    const { id, name } = variableNamed(all, args.variable);
    const input = await readBody(this.io, flags.input);
    const change = { ...input, ...(await scopeIn(flags, async (team) => (await this.team(team)).id)) };
    const hasScope = change.team_ids !== undefined || change.uses !== undefined;
    const value = (await readSecret(this.io, flags, "value")) ?? input.value;
    const body = {
      ...change,
      ...(value === undefined && hasScope
        ? {}
        : { value: (value ?? (await this.askNewSecret("Value", "--value-stdin or --value-file"))) as string }),
    };
    if (flags["dry-run"]) {
      const { value: _secret, ...shown } = body;
      this.trying(`change the custom variable ${name}`, { id, name, ...shown });
    }
    if (body.value === undefined) await this.call(variablesApi.modify, { params: { id }, body: change });
    else await this.call(variablesApi.apply, { body: { secrets: [{ ...change, name, value: body.value }] } });
    const warning = notMasked(name, body.value);
    if (warning !== null) this.note(warning);
    await this.report(`changed the custom variable ${name}`, { id, name });
  }
}
