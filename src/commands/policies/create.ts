import * as Flags from "@oclif/core/flags";
import { Policy, policiesApi } from "../../api/checks/policies.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { policyBody, policyFlags, policyScope, scopeFlag } from "../../cli/topics/policies.ts";
import { ApiCallError } from "../../client/errors.ts";

export default class PoliciesCreate extends ClientCommand {
  static override summary = "Create a policy, globally or for a team.";
  static override endpoints = [policiesApi.createGlobal, policiesApi.createTeam, policiesApi.autofill];
  static override flags = {
    ...policyFlags,
    "query-id": Flags.integer({ summary: "Copy name, query and description from this saved query.", min: 1 }),
    autofill: Flags.boolean({
      summary: "Have the server's text service write --description and --resolution if they are not given.",
    }),
    ...scopeFlag,
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --name 'Screen locks' --platform darwin --query 'SELECT 1 FROM screenlock WHERE enabled = 1' --autofill",
    "<%= config.bin %> <%= command.id %> --team Workstations --name 'Firefox is up to date' --type patch --svc-maintained-app-slug firefox/darwin --install-software --patch-when-closed",
    "<%= config.bin %> <%= command.id %> --team Workstations --name 'Not on battery' --query 'SELECT 1 FROM battery' --critical",
  ];

  async run() {
    const { flags } = await this.parse(PoliciesCreate);
    const scope = await policyScope(this, flags.team);
    const body: Record<string, unknown> = {
      ...(await readBody(this.io, flags.input)),
      ...(flags["query-id"] === undefined ? {} : { query_id: flags["query-id"] }),
      ...policyBody(flags),
    };
    if (body.query_id === undefined) {
      if (typeof body.name !== "string") body.name = await this.askText("Name", "--name");
      if (typeof body.query !== "string" && body.type !== "patch") body.query = await this.askText("Query", "--query");
    }
    if (flags["dry-run"]) {
      this.trying(`create policy ${body.name ?? ""} ${scope.name}`, null, changesOf({}, body));
    }
    if (flags.autofill) await this.#fill(body);
    const { policy } =
      scope.teamId === null
        ? await this.call(policiesApi.createGlobal, { body })
        : await this.call(policiesApi.createTeam, { params: { id: scope.teamId }, body });
    await this.report(`created policy ${policy.name} (${policy.id}) ${scope.name}`, policy, { schema: () => Policy });
  }

  /** Fills in missing texts. A failure of the text service only causes a warning, because the texts are optional. */
  async #fill(body: Record<string, unknown>): Promise<void> {
    try {
      const suggested = await this.call(policiesApi.autofill, { body: { sql: String(body.query ?? "") } });
      body.description ??= suggested.description;
      body.resolution ??= suggested.resolution;
    } catch (error) {
      if (!(error instanceof ApiCallError) || (error.status !== 422 && error.status !== 400)) throw error;
      this.warn(`the texts were not filled in: ${error.errors[0]?.reason ?? error.message}`);
    }
  }
}
