import { enrollSecretsApi } from "../../api/enroll-secrets.ts";
import { EnrollSecretsCommand, newSecret } from "../../cli/enroll-secrets.ts";
import { dryRunFlag, teamFlag } from "../../cli/flags.ts";
import { secretFlags } from "../../cli/input.ts";
import { plural } from "../../cli/text.ts";

export default class EnrollSecretsAdd extends EnrollSecretsCommand {
  static override summary = "Add an enroll secret: a new random one, or those given.";
  static override endpoints = [enrollSecretsApi.setGlobal, enrollSecretsApi.setTeam];
  static override flags = { ...secretFlags("secrets", "the secrets, one a line"), ...teamFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --team Workstations",
  ];

  async run() {
    const { flags } = await this.parse(EnrollSecretsAdd);
    const holder = await this.holder(flags.team);
    const given = await this.givenSecrets(flags);
    const fresh = given.length > 0 ? given : [newSecret()];
    const before = (await this.secretsOf(holder)).map(({ secret }) => secret);
    const secrets = [...new Set([...before, ...fresh])];
    if (flags["dry-run"]) {
      await this.check(holder, secrets);
      return this.printPlan(`add ${plural(secrets.length - before.length, "secret")} to ${holder.name}`, {
        team_id: holder.teamId,
      });
    }
    await this.replace(holder, secrets);
    this.note(`added ${plural(secrets.length - before.length, "secret")} to ${holder.name}`);
    const added = fresh.map((secret) => ({ secret, team_id: holder.teamId }));
    if (this.structured) await this.printList(added, { columns: [{ key: "secret" }] });
    else if (given.length === 0) for (const { secret } of added) this.log(secret);
  }
}
