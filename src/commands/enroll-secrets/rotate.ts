import * as Flags from "@oclif/core/flags";
import { enrollSecretsApi } from "../../api/enroll-secrets.ts";
import { EnrollSecretsCommand, newSecret } from "../../cli/features/enroll-secrets.ts";
import { dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { durationMs } from "../../cli/output/text.ts";

export default class EnrollSecretsRotate extends EnrollSecretsCommand {
  static override summary = "Add a new enroll secret, print it, and remove the old ones after --grace.";
  static override destructive = true;
  static override description =
    "With --grace the command waits that long before it removes the old secrets. If it is interrupted, both stay. Secrets " +
    "that other users add in the meantime stay.";
  static override endpoints = [enrollSecretsApi.setGlobal, enrollSecretsApi.setTeam];
  static override flags = {
    grace: Flags.string({
      summary: "How long the old secrets stay valid: 30s, 10m, 1h.",
      default: "0",
      helpValue: "TIME",
    }),
    ...teamFlag,
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --grace 10m --yes",
    "<%= config.bin %> <%= command.id %> --team Workstations --yes",
  ];

  async run() {
    const { flags } = await this.parse(EnrollSecretsRotate);
    const grace = durationMs(flags.grace, "--grace");
    const holder = await this.holder(flags.team);
    const old = (await this.secretsOf(holder)).map(({ secret }) => secret);
    const fresh = newSecret();
    if (flags["dry-run"]) {
      this.trying(`add a secret and remove ${holder.secrets(old.length, "old ")}`, {
        team_id: holder.teamId,
      });
    }
    await this.confirm(`Replace ${holder.secrets(old.length)}?`);
    await this.replace(holder, [fresh, ...old]);
    if (this.structured) await this.printOne({ secret: fresh, team_id: holder.teamId, replaces: old.length });
    else this.log(fresh);
    if (old.length === 0) return;
    if (grace > 0) {
      this.note(`the old secrets stay valid for ${flags.grace}`);
      await this.io.sleep(grace, this.stop.signal);
    }
    const now = (await this.secretsOf(holder)).map(({ secret }) => secret);
    await this.replace(
      holder,
      now.filter((secret) => !old.includes(secret)),
    );
    this.note(`removed ${holder.secrets(old.length, "old ")}`);
  }
}
