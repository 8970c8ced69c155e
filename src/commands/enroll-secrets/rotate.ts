import * as Flags from "@oclif/core/flags";
import { enrollSecretsApi } from "../../api/enroll-secrets.ts";
import { EnrollSecretsCommand, masked, newSecret } from "../../cli/features/enroll-secrets.ts";
import { dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { durationMs } from "../../cli/output/text.ts";
import { type Going, interrupted } from "../../cli/wait.ts";
import { shellWord } from "../../text/shell.ts";

/** What remains when the wait does not end: the old secrets, and the commands that remove them. */
function stillValid(old: readonly string[], team: string | undefined): Going {
  const command = (secret: string) =>
    `\`svc enroll-secrets remove ${shellWord(secret.slice(0, 4))}${team === undefined ? "" : ` --team ${shellWord(team)}`}\``;
  return {
    what: `the old secrets are still valid (${old.map(masked).join(", ")})`,
    hint: `To remove them: ${old.map(command).join(", ")}.`,
  };
}

export default class EnrollSecretsRotate extends EnrollSecretsCommand {
  static override summary = "Add a new enroll secret, print it, and remove the old ones after --grace.";
  static override destructive = true;
  static override description =
    "With --grace the command waits that long before it removes the old secrets. If it is interrupted, both stay valid; svc names the command that removes the old ones. Secrets " +
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
    if (grace > 0) await this.wait(old, grace, flags);
    try {
      const now = (await this.secretsOf(holder)).map(({ secret }) => secret);
      await this.replace(
        holder,
        now.filter((secret) => !old.includes(secret)),
      );
    } catch (error) {
      const going = stillValid(old, flags.team);
      if (this.stop.signal.aborted) throw interrupted(going);
      this.note(`${going.what}. ${going.hint}`);
      throw error;
    }
    this.note(`removed ${holder.secrets(old.length, "old ")}`);
  }

  private async wait(
    old: readonly string[],
    ms: number,
    { grace, team }: { grace: string; team?: string | undefined },
  ) {
    const until = new Date(this.io.now().getTime() + ms).toISOString();
    this.note(
      `the old secrets stay valid for ${grace}: this command waits until ${until}, then removes them. Ctrl-C ends it and leaves them valid`,
    );
    try {
      await this.io.sleep(ms, this.stop.signal);
    } catch (error) {
      throw this.stop.signal.aborted ? interrupted(stillValid(old, team)) : error;
    }
  }
}
