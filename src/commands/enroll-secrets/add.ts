import { enrollSecretsApi } from "../../api/settings/enroll-secrets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag, teamFlag } from "../../cli/flags.ts";
import { newSecret, readSecrets, replaceSecrets, secretsHolder, secretsOf } from "../../cli/topics/enroll-secrets.ts";

export default class EnrollSecretsAdd extends ClientCommand {
  static override summary = "Add a new random enroll secret, or the given ones.";
  static override endpoints = [enrollSecretsApi.setGlobal, enrollSecretsApi.setTeam];
  static override flags = { ...secretFlags("secrets", "the secrets, one per line"), ...teamFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --team Workstations",
  ];

  async run() {
    const { flags } = await this.parse(EnrollSecretsAdd);
    const holder = await secretsHolder(this, flags.team);
    const secretTexts = await readSecrets(this, flags);
    const fresh = secretTexts.length > 0 ? secretTexts : [newSecret()];
    const before = (await secretsOf(this, holder)).map(({ secret }) => secret);
    const secrets = [...new Set([...before, ...fresh])];
    const where = holder.teamId === null ? " (hosts that enroll with it belong to no team)" : "";
    const added = `${holder.secrets(secrets.length - before.length)}${where}`;
    if (flags["dry-run"]) {
      this.trying(`add ${added}`, { team_id: holder.teamId });
    }
    await replaceSecrets(this, holder, secrets);
    this.note(`added ${added}`);
    const rows = fresh.map((secret) => ({ secret, team_id: holder.teamId }));
    if (this.structured) await this.printList(rows, { columns: [{ key: "secret" }] });
    else if (secretTexts.length === 0) for (const { secret } of rows) this.log(secret);
  }
}
