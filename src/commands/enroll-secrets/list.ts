import { EnrollSecret, enrollSecretsApi } from "../../api/settings/enroll-secrets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { teamFlag } from "../../cli/flags.ts";
import { timeColumn } from "../../cli/output/time-column.ts";
import { secretsHolder, secretsOf } from "../../cli/topics/enroll-secrets.ts";

export default class EnrollSecretsList extends ClientCommand {
  static override summary = "List the enroll secrets: the global ones, or a team's.";
  static override endpoints = [enrollSecretsApi.getGlobal, enrollSecretsApi.getTeam];
  static override flags = { ...teamFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --team Workstations",
  ];

  async run() {
    const { flags } = await this.parse(EnrollSecretsList);
    const secrets = await secretsOf(this, await secretsHolder(this, flags.team));
    const time = (key: string, header: string) => timeColumn(key, header, this.relativeTimes, this.io.now());
    await this.printList(secrets, {
      schema: () => EnrollSecret,
      columns: [{ key: "secret", whole: true }, time("created_at", "created"), time("expires_at", "valid until")],
    });
  }
}
