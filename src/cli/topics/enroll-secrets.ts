// Shared by the enroll-secrets commands, which treat global secrets and those of a team the same way.

import { randomBytes } from "node:crypto";
import { type EnrollSecret, enrollSecretsApi } from "../../api/settings/enroll-secrets.ts";
import { plural } from "../../text/plural.ts";
import type { ClientCommand } from "../client-command.ts";
import { usage } from "../errors.ts";
import { readText } from "../files/input.ts";
import { listOf } from "../flags.ts";

export interface SecretOwner {
  readonly teamId: number | null;
  /** The number of its secrets in words: "2 global secrets", "1 old secret of team Lab". */
  secrets(count: number, adjective?: string): string;
}

/** A secret, and until when it is valid. */
export interface Expiring {
  readonly secret: string;
  readonly expires_at: string;
}

export async function secretsHolder(command: ClientCommand, team: string | undefined): Promise<SecretOwner> {
  if (team === undefined)
    return { teamId: null, secrets: (count, adjective = "") => plural(count, `${adjective}global secret`) };
  const { id, name } = await command.team(team);
  return { teamId: id, secrets: (count, adjective = "") => `${plural(count, `${adjective}secret`)} of team ${name}` };
}

export async function secretsOf(command: ClientCommand, { teamId }: SecretOwner): Promise<EnrollSecret[]> {
  if (teamId === null) return (await command.call(enrollSecretsApi.getGlobal)).spec.secrets;
  return (await command.call(enrollSecretsApi.getTeam, { params: { id: teamId } })).secrets;
}

export async function replaceSecrets(
  command: ClientCommand,
  { teamId }: SecretOwner,
  secrets: readonly (string | Expiring)[],
): Promise<void> {
  const body = { secrets: secrets.map((secret) => (typeof secret === "string" ? { secret } : secret)) };
  if (teamId === null) await command.call(enrollSecretsApi.setGlobal, { body: { spec: body } });
  else await command.call(enrollSecretsApi.setTeam, { params: { id: teamId }, body });
}

/** Secrets from stdin or a file, one per line. */
export async function readSecrets(
  command: ClientCommand,
  flags: {
    "secrets-stdin": boolean;
    "secrets-file"?: string | undefined;
  },
): Promise<string[]> {
  const path = flags["secrets-stdin"] ? "-" : flags["secrets-file"];
  if (path === undefined) return [];
  const secrets = listOf((await readText(command.io, path, "--secrets-file")).split(/\r?\n/));
  if (secrets.length === 0) throw usage("the input contains no secret", "Give one secret per line.");
  return secrets;
}

export const newSecret = (): string => randomBytes(24).toString("base64url");
/** Enough of a secret to recognize it, too little to use it. */
export const masked = (secret: string): string => `${secret.slice(0, 4)}...`;
