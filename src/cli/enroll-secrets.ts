// What the enroll-secrets commands share: global or one team's, read and written the same way.
import { randomBytes } from "node:crypto";
import { type EnrollSecret, enrollSecretsApi } from "../api/enroll-secrets.ts";
import { ClientCommand } from "./client-command.ts";
import { usage } from "./errors.ts";
import { listOf } from "./flags.ts";
import { readText } from "./input.ts";

export interface Holder {
  readonly name: string;
  readonly teamId: number | null;
}

export abstract class EnrollSecretsCommand extends ClientCommand {
  protected async holder(team: string | undefined): Promise<Holder> {
    if (team === undefined) return { name: "all teams", teamId: null };
    const { id, name } = await this.team(team);
    return { name: `team ${name}`, teamId: id };
  }

  protected async secretsOf({ teamId }: Holder): Promise<EnrollSecret[]> {
    if (teamId === null) return (await this.call(enrollSecretsApi.getGlobal)).spec.secrets;
    return (await this.call(enrollSecretsApi.getTeam, { params: { id: teamId } })).secrets;
  }

  protected async replace({ teamId }: Holder, secrets: readonly string[]): Promise<void> {
    const body = { secrets: secrets.map((secret) => ({ secret })) };
    if (teamId === null) await this.call(enrollSecretsApi.setGlobal, { body: { spec: body } });
    else await this.call(enrollSecretsApi.setTeam, { params: { id: teamId }, body });
  }

  /** The same checks as `replace`; the global list is checked by the server itself. */
  protected async check({ teamId }: Holder, secrets: readonly string[]): Promise<void> {
    const body = { secrets: secrets.map((secret) => ({ secret })) };
    if (teamId === null)
      await this.call(enrollSecretsApi.setGlobal, { query: { dry_run: true }, body: { spec: body } });
    else this.validate(enrollSecretsApi.setTeam, body);
  }

  /** Secrets from stdin or a file, one a line. */
  protected async givenSecrets(flags: {
    "secrets-stdin": boolean;
    "secrets-file"?: string | undefined;
  }): Promise<string[]> {
    const path = flags["secrets-stdin"] ? "-" : flags["secrets-file"];
    if (path === undefined) return [];
    const secrets = listOf((await readText(this.io, path, "--secrets-file")).split(/\r?\n/));
    if (secrets.length === 0) throw usage("no secret was read", "One secret a line.");
    return secrets;
  }
}

export const newSecret = (): string => randomBytes(24).toString("base64url");
/** Enough to tell it from others, too little to use it. */
export const masked = (secret: string): string => `${secret.slice(0, 4)}...`;
