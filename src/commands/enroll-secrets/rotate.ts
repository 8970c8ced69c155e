import * as Flags from "@oclif/core/flags";
import { enrollSecretsApi } from "../../api/settings/enroll-secrets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { durationMs } from "../../cli/output/text.ts";
import { newSecret, replaceSecrets, secretsHolder, secretsOf } from "../../cli/topics/enroll-secrets.ts";

export default class EnrollSecretsRotate extends ClientCommand {
  static override summary = "Add a new enroll secret, print it, and remove the old ones after --grace.";
  static override destructive = true;
  static override description =
    "With --grace the server accepts the old secrets for that long, and then removes them; the command does not wait. " +
    "`svc enroll-secrets list` shows until when each is valid, and `svc enroll-secrets remove` ends one earlier.";
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
    const holder = await secretsHolder(this, flags.team);
    const until = new Date(this.io.now().getTime() + grace).toISOString();
    const old = await secretsOf(this, holder);
    const fresh = newSecret();
    if (flags["dry-run"]) {
      this.trying(`add a secret and remove ${holder.secrets(old.length, "old ")}`, {
        team_id: holder.teamId,
      });
    }
    await this.confirm(`Replace ${holder.secrets(old.length)}?`);
    // Secrets of an earlier rotation keep their earlier end.
    const expiring = old.map(({ secret, expires_at }) => ({
      secret,
      expires_at: expires_at !== undefined && expires_at < until ? expires_at : until,
    }));
    await replaceSecrets(this, holder, [fresh, ...(grace > 0 ? expiring : [])]);
    if (this.structured)
      await this.printOne({
        secret: fresh,
        team_id: holder.teamId,
        replaces: old.length,
        old_valid_until: grace > 0 && old.length > 0 ? until : null,
      });
    else this.log(fresh);
    if (old.length === 0) return;
    this.note(
      grace > 0
        ? `the server removes ${holder.secrets(old.length, "old ")} at ${until}; until then they stay valid`
        : `removed ${holder.secrets(old.length, "old ")}`,
    );
  }
}
