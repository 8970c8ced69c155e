import { enrollSecretsApi } from "../../api/settings/enroll-secrets.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { notFound, usage } from "../../cli/errors.ts";
import { secretFlags } from "../../cli/files/input.ts";
import { args, dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { masked, readSecrets, replaceSecrets, secretsHolder, secretsOf } from "../../cli/topics/enroll-secrets.ts";
import { plural } from "../../text/plural.ts";

export default class EnrollSecretsRemove extends ClientCommand {
  static override summary = "Remove an enroll secret.";
  static override destructive = true;
  static override description =
    "PREFIX is the beginning of the secret, at least four characters long. A whole secret should not be on a command line.";
  static override endpoints = [enrollSecretsApi.setGlobal, enrollSecretsApi.setTeam];
  static override args = { prefix: args.optional("beginning of the secret") };
  static override flags = {
    ...secretFlags("secrets", "the secrets, one per line"),
    ...teamFlag,
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> exam --yes",
    "<%= config.bin %> <%= command.id %> secr --team Workstations --yes",
  ];

  async run() {
    const { args, flags } = await this.parse(EnrollSecretsRemove);
    const holder = await secretsHolder(this, flags.team);
    const whole = await readSecrets(this, flags);
    if (args.prefix === undefined && whole.length === 0)
      throw usage("no secret is given", "Give its beginning, or --secrets-stdin.");
    const before = (await secretsOf(this, holder)).map(({ secret }) => secret);
    const gone =
      args.prefix === undefined
        ? before.filter((secret) => whole.includes(secret))
        : [secretWithPrefix(before, args.prefix)];
    if (gone.length < whole.length)
      throw notFound(`${plural(whole.length - gone.length, "secret")} of these do not exist`);
    const kept = before.filter((secret) => !gone.includes(secret));
    const secrets = `${holder.secrets(gone.length)} (${gone.map(masked).join(", ")})`;
    if (flags["dry-run"]) {
      this.trying(`remove ${secrets}`, { team_id: holder.teamId });
    }
    await this.confirm(`Remove ${secrets}? Agents that have it cannot enroll again.`);
    await replaceSecrets(this, holder, kept);
    await this.report(`removed ${secrets}`, { team_id: holder.teamId, removed: gone.length, left: kept.length });
  }
}

function secretWithPrefix(secrets: readonly string[], prefix: string): string {
  if (prefix.length < 4) throw usage("PREFIX is too short", "Give at least four characters of the secret.");
  const [first, second] = secrets.filter((secret) => secret.startsWith(prefix));
  if (first === undefined) throw notFound(`no secret begins with ${prefix}`, "`svc enroll-secrets list` shows them.");
  if (second !== undefined) throw usage(`more than one secret begins with ${prefix}`, "Give more characters.");
  return first;
}
