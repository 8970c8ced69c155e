import { isMask } from "../../../api/fields.ts";
import type { EnrollSecret } from "../../../api/settings/enroll-secrets.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { channels } from "../../platform/core/channels.ts";
import { isoAt } from "../../platform/core/clock.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { tokenHash } from "../../platform/core/random.ts";
import { may } from "../../platform/core/security/access.ts";
import { and, eq, gt, isNull, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { enrollSecrets } from "./tables.ts";
import { findTokens } from "./tokens.ts";

export const MAX_SECRETS = 50;

type SecretRow = RowOf<typeof enrollSecrets>;
type SecretInputs = readonly { readonly secret: string; readonly expires_at?: string | null | undefined }[];

/** Secrets with which hosts can enroll now. Without a hash the secret is another team's. */
export const isUsable = (now: string): Predicate =>
  and(not(isNull("secret_hash")), or(isNull("expires_at"), gt("expires_at", now)));

/**
 * The team whose hosts each secret or token enrolls; `team_id` is null for hosts without a team. Null for a text that
 * is neither.
 */
export async function findEnrollSecrets(
  { store, clock }: Pick<Context, "store" | "clock">,
  secrets: readonly string[],
): Promise<({ team_id: number | null } | null)[]> {
  const hashes = secrets.map(tokenHash);
  const rows = await store.enrollSecrets.pick(["team_id", "secret_hash"], {
    where: and(oneOf("secret_hash", [...new Set(hashes)]), isUsable(clock.iso())),
  });
  const teams = new Map(rows.map(({ team_id, secret_hash }) => [secret_hash!, { team_id }]));
  const others = [...new Set(hashes)].filter((hash) => !teams.has(hash));
  for (const { team_id, token_hash } of others.length === 0 ? [] : await findTokens({ store, clock }, others))
    teams.set(token_hash, { team_id });
  return hashes.map((hash) => teams.get(hash) ?? null);
}

export const viewSecret = ({ secret, created_at, team_id, expires_at }: SecretRow): EnrollSecret => ({
  secret,
  created_at,
  ...(team_id === null ? {} : { team_id }),
  ...(expires_at === null ? {} : { expires_at }),
});

export const secretsOf = async ({ store }: Pick<Context, "store">, teamId: number | null): Promise<EnrollSecret[]> =>
  (await store.enrollSecrets.list({ where: eq("team_id", teamId) })).map(viewSecret);

/** 422 on `secrets` for a list that no team may have, whatever the others have. */
export function checkSecrets(inputs: SecretInputs): void {
  if (inputs.length > MAX_SECRETS) throw invalid("secrets", `must not be more than ${MAX_SECRETS}`);
  const distinct = new Set<string>();
  for (const { secret } of inputs) {
    if (secret.trim() === "") throw invalid("secrets", "must not be empty");
    if (/\p{Cc}|\p{Cs}/u.test(secret)) throw invalid("secrets", "must not contain control characters");
    if (distinct.has(secret) && !isMask(secret)) throw invalid("secrets", "must differ from each other");
    distinct.add(secret);
  }
}

/** Who may not read secrets sends back what it was shown: all masks together stand for all secrets that there are. */
function unmasked(inputs: SecretInputs, existing: readonly SecretRow[]): string[] {
  const plain = inputs.map(({ secret }) => secret).filter((secret) => !isMask(secret));
  const masks = inputs.length - plain.length;
  if (masks === 0) return plain;
  if (masks !== existing.length)
    throw invalid("secrets", "some are masked: give all of them, or their masks unchanged");
  return [...new Set([...existing.map(({ secret }) => secret), ...plain])];
}

/**
 * Replaces the secrets of the team (null: the global ones) in the caller's transaction. Unchanged secrets keep their
 * creation time. Returns whether anything changed.
 */
export async function replaceSecrets(ctx: Context, teamId: number | null, inputs: SecretInputs): Promise<boolean> {
  checkSecrets(inputs);
  const existing = await ctx.store.enrollSecrets.list({ where: eq("team_id", teamId) });
  const changed = await replaceAll(ctx, [{ teamId, existing, secrets: unmasked(inputs, existing) }]);
  const isLimited = await setExpiries(ctx, teamId, inputs);
  return changed.length > 0 || isLimited;
}

/** Sets until when the secrets are valid, where the change names it. Returns whether anything changed. */
async function setExpiries({ store, clock }: Context, teamId: number | null, inputs: SecretInputs): Promise<boolean> {
  const now = clock.now();
  const expiries = new Map(
    inputs.flatMap(({ secret, expires_at }) => (expires_at === undefined ? [] : [[secret, expires_at]])),
  );
  if (expiries.size === 0) return false;
  const times = new Map<string, string | null>();
  for (const [secret, time] of expiries) {
    if (time !== null && Date.parse(time) <= now) throw invalid("secrets", "expires_at must be in the future");
    times.set(secret, time === null ? null : isoAt(Date.parse(time)));
  }
  const rows = await store.enrollSecrets.list({ where: eq("team_id", teamId) });
  const changed = rows.filter(({ secret, expires_at }) => times.has(secret) && times.get(secret) !== expires_at);
  for (const { id, secret } of changed)
    await store.enrollSecrets.update({ where: eq("id", id), set: { expires_at: times.get(secret) ?? null } });
  if (changed.length > 0) await store.notify(channels.enrollSecrets, "");
  return changed.length > 0;
}

export interface Replacement {
  readonly teamId: number | null;
  readonly existing: readonly SecretRow[];
  /** Checked. */
  readonly secrets: readonly string[];
}

/**
 * Replaces the secrets of several teams. Secrets may move between them, and those of `leaving` teams become available.
 * Returns the replacements that changed anything; `refuse` creates the error for a secret that cannot be used.
 *
 * A secret enrolls into one team only, the first that had it. An error for a secret in use elsewhere would let callers
 * guess other teams' secrets. So callers who may not read those get a normal reply, and a row without effect.
 */
export async function replaceAll(
  ctx: Context,
  replacements: readonly Replacement[],
  leaving: readonly number[] = [],
  refuse: Refuse = (_, reason) => invalid("secrets", reason),
): Promise<Replacement[]> {
  const { store } = ctx;
  const now = ctx.clock.iso();
  const hashed = replacements.map((replacement) => ({
    replacement,
    hashes: new Map(replacement.secrets.map((text) => [tokenHash(text), text])),
  }));
  const teams = new Set([...replacements.map(({ teamId }) => teamId), ...leaving]);
  const holders = await holdersOf(store, hashed);
  const isTaken = (hash: string) => holders.has(hash) && !teams.has(holders.get(hash)!);
  const isKnownTaken = (hash: string) => isTaken(hash) && may(ctx.user, "enroll_secrets:read", holders.get(hash)!);
  checkUnused(hashed, isKnownTaken, refuse);
  const changes = hashed.map(changeOf).filter(({ gone, added }) => gone.length + added.length > 0);
  if (changes.length === 0) return [];
  // First, so that what moves is free.
  for await (const batch of parts(changes.flatMap(({ gone }) => gone)))
    await store.enrollSecrets.delete(oneOf("id", batch));
  if (leaving.length > 0) await store.enrollSecrets.delete(oneOf("team_id", leaving));
  const rows = changes.flatMap(({ replacement, added }) =>
    added.map(([hash, secret]) => ({
      created_at: now,
      team_id: replacement.teamId,
      secret,
      secret_hash: isTaken(hash) ? null : hash,
      expires_at: null,
    })),
  );
  for (const { team_id, secret_hash } of rows)
    if (secret_hash === null)
      ctx.log.warn({ team_id }, "an enroll secret of this team is one of another team's: its hosts enroll there");
  for await (const batch of parts(rows)) await store.enrollSecrets.insertMany(batch);
  await store.notify(channels.enrollSecrets, "");
  return changes.map(({ replacement }) => replacement);
}

type Refuse = (replacement: Replacement, reason: string) => Error;

interface HashedReplacement {
  readonly replacement: Replacement;
  /** The secrets by their hashes. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** The teams that have these secrets, by hash. */
async function holdersOf(
  { enrollSecrets }: Pick<Context["store"], "enrollSecrets">,
  hashed: readonly HashedReplacement[],
): Promise<Map<string, number | null>> {
  const holders = new Map<string, number | null>();
  for await (const batch of parts(hashed.flatMap(({ hashes }) => [...hashes.keys()])))
    for (const row of await enrollSecrets.pick(["team_id", "secret_hash"], { where: oneOf("secret_hash", batch) }))
      holders.set(row.secret_hash!, row.team_id);
  return holders;
}

/** Throws what `refuse` makes of a team with too many secrets, or with one that is used elsewhere. */
function checkUnused(
  hashed: readonly HashedReplacement[],
  isKnownTaken: (hash: string) => boolean,
  refuse: Refuse,
): void {
  const used = new Set<string>();
  for (const { replacement, hashes } of hashed) {
    if (hashes.size > MAX_SECRETS) throw refuse(replacement, `must not be more than ${MAX_SECRETS}`);
    for (const hash of hashes.keys()) {
      if (used.has(hash) || isKnownTaken(hash)) throw refuse(replacement, "a secret is already in use elsewhere");
      used.add(hash);
    }
  }
}

function changeOf({ replacement, hashes }: HashedReplacement) {
  const existing = replacement.existing.map((row) => ({ ...row, hash: tokenHash(row.secret) }));
  const existingHashes = new Set(existing.map(({ hash }) => hash));
  return {
    replacement,
    gone: existing.filter(({ hash }) => !hashes.has(hash)).map(({ id }) => id),
    added: [...hashes].filter(([hash]) => !existingHashes.has(hash)),
  };
}

/** Runs `work` where no other server changes secrets: that a secret is used once is checked before it is written. */
export const changingSecrets = <R>(ctx: Context, work: (inside: Context) => Promise<R>): Promise<R> =>
  ctx.store.tx((store) => work(within(ctx, store)), { lock: "enroll_secrets" });

export async function setGlobalSecrets(ctx: Context, inputs: SecretInputs): Promise<Record<string, never>> {
  await changingSecrets(ctx, async (inside) => {
    if (await replaceSecrets(inside, null, inputs))
      await recordActivity(inside, "edited_enroll_secrets", { team_id: null, team_name: null });
  });
  return {};
}

/** Adds a new global secret and gives it. */
export async function addGlobalSecret(ctx: Context): Promise<string> {
  const secret = ctx.random.token(24);
  await changingSecrets(ctx, async (inside) => {
    await replaceSecrets(inside, null, [...(await secretsOf(inside, null)), { secret }]);
    await recordActivity(inside, "edited_enroll_secrets", { team_id: null, team_name: null });
  });
  return secret;
}
