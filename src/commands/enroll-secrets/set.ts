import * as Flags from "@oclif/core/flags";
import { enrollSecretsApi } from "../../api/settings/enroll-secrets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { readSecrets, replaceSecrets, secretsHolder, secretsOf } from "../../cli/topics/enroll-secrets.ts";

export default class EnrollSecretsSet extends ClientCommand {
  static override summary = "Replace the enroll secrets; one per line.";
  static override destructive = true;
  static override description = "Agents with a removed secret cannot enroll again. --none removes all secrets.";
  static override endpoints = [enrollSecretsApi.setGlobal, enrollSecretsApi.setTeam];
  static override flags = {
    ...secretFlags("secrets", "the secrets"),
    none: Flags.boolean({
      summary: "Remove all secrets: no host can enroll.",
      exclusive: ["secrets-stdin", "secrets-file"],
    }),
    ...teamFlag,
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --secrets-file secrets.txt --yes",
    "<%= config.bin %> <%= command.id %> --team Workstations --none --yes",
  ];

  async run() {
    const { flags } = await this.parse(EnrollSecretsSet);
    const holder = await secretsHolder(this, flags.team);
    const secrets = await readSecrets(this, flags);
    if (secrets.length === 0 && !flags.none)
      throw usage("no secrets given", "Use --secrets-stdin, --secrets-file or --none.");
    const before = await secretsOf(this, holder);
    const change = `replace ${holder.secrets(before.length)} by ${secrets.length}`;
    if (flags["dry-run"]) {
      this.trying(change, { team_id: holder.teamId });
    }
    if (before.length > 0) await this.confirm(`${change[0]?.toUpperCase()}${change.slice(1)}?`);
    await replaceSecrets(this, holder, secrets);
    await this.report(`there are now ${holder.secrets(secrets.length)}`, {
      team_id: holder.teamId,
      count: secrets.length,
    });
  }
}
