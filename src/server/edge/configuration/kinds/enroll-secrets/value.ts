import { isMask } from "../../../../../api/fields.ts";
import { isRecord } from "../../../../../text/record.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import type { RowOf } from "../../../../platform/store/table.ts";
import { checkSecrets, MAX_SECRETS } from "../../../../settings/enroll-secrets/service.ts";
import type { enrollSecrets } from "../../../../settings/enroll-secrets/tables.ts";
import type { RequestedChange } from "../../changes.ts";
import { KEPT, Secret, secretFrom, type Texts, type Thing } from "../../values.ts";

export type SecretRow = RowOf<typeof enrollSecrets>;

export function byTeam(rows: readonly SecretRow[]): Map<number | null, SecretRow[]> {
  const teams = new Map<number | null, SecretRow[]>();
  for (const row of rows) {
    const teamSecrets = teams.get(row.team_id) ?? [];
    teams.set(row.team_id, teamSecrets);
    teamSecrets.push(row);
  }
  return teams;
}

const MOST_CHARACTERS = 255;

/** Sorted by their texts: the revision must not depend on the order. */
export const secretsThing = (owner: string | null, rows: readonly SecretRow[]): Thing => ({
  kind: "enroll_secrets",
  owner,
  name: "enroll_secrets",
  value: {
    secrets: rows
      .map(({ secret }) => secret)
      .sort()
      .map((text) => new Secret(text)),
  },
});

export interface DesiredSecrets {
  readonly texts: readonly string[];
  /** The number of existing secrets that were not given and stay. */
  readonly keptCount: number;
}

export function readSecrets({ value }: RequestedChange, texts: Texts): DesiredSecrets {
  if (!isRecord(value) || !Array.isArray(value.secrets) || Object.keys(value).length !== 1)
    throw invalid("value", 'must be {"secrets": [{"$secret": ref}, ...]}');
  if (value.secrets.length > MAX_SECRETS) throw invalid("secrets", `must not be more than ${MAX_SECRETS}`);
  const inputs = value.secrets.map((secret, i) => secretFrom(secret, texts, `secrets.${i}`));
  const plain = inputs.filter((input) => input !== KEPT);
  for (const [i, text] of inputs.entries())
    if (text !== KEPT && text.length > MOST_CHARACTERS)
      throw invalid(`secrets.${i}`, `must not have more than ${MOST_CHARACTERS} characters`);
  checkSecrets(plain.map((secret) => ({ secret })));
  if (plain.some(isMask)) throw invalid("secrets", "must not be masks");
  return { texts: plain, keptCount: inputs.length - plain.length };
}

/**
 * The resulting secrets. Existing secrets that were not given must either all stay or all be removed: 422 otherwise.
 */
export function secretsAfter(
  { texts, keptCount }: DesiredSecrets,
  rows: readonly SecretRow[],
  suppliedTexts: Texts,
): string[] {
  const suppliedSecrets = new Set(suppliedTexts.values());
  const unknown = rows.map(({ secret }) => secret).filter((secret) => !suppliedSecrets.has(secret));
  if (keptCount === 0) return [...texts];
  if (keptCount !== unknown.length)
    throw invalid("secrets", `existing secrets that were not given: ${unknown.length}; keep all of them, or none`);
  return [...unknown, ...texts];
}
