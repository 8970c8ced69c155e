import { isoAt } from "../core/clock.ts";
import type { Context } from "../core/context.ts";
import { tokenHash } from "../core/random.ts";
import { and, eq, oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { oneTimeTokens } from "./tables.ts";

type TokenRow = RowOf<typeof oneTimeTokens>;
type TokenKind = TokenRow["kind"];
type Data = NonNullable<TokenRow["data"]>;

/** Kinds of which a user can have only one token: issuing a new one deletes the previous one. */
const single: readonly TokenKind[] = ["password_reset", "email_change"];

/** Issues a single-use token that proves to be the user, valid for `milliseconds`. Only its hash is stored. */
export function issueToken(
  { store, clock, random }: Pick<Context, "store" | "clock" | "random">,
  kind: TokenKind,
  userId: number,
  lifetime: number,
  data: Data | null = null,
  token: string = random.token(32),
): Promise<string> {
  const now = clock.now();
  return store.tx(
    async (inside) => {
      if (single.includes(kind)) await endTokens({ store: inside }, userId, [kind]);
      await inside.oneTimeTokens.insert({
        kind,
        user_id: userId,
        token_hash: tokenHash(token),
        created_at: isoAt(now),
        expires_at: isoAt(now + lifetime),
        data,
      });
      return token;
    },
    // Serializes concurrent calls, so that the later one deletes the token of the earlier one.
    { lock: "users" },
  );
}

/** The row of a valid token. Does not use the token up. */
export async function findToken(
  { store, clock }: Pick<Context, "store" | "clock">,
  kind: TokenKind,
  token: string,
): Promise<TokenRow | null> {
  const row = await store.oneTimeTokens.first({ where: and(eq("token_hash", tokenHash(token)), eq("kind", kind)) });
  return row && Date.parse(row.expires_at) > clock.now() ? row : null;
}

/** Uses the token up. Null if it is unknown, of another kind, used or expired. Of concurrent calls one succeeds. */
export async function takeToken(
  ctx: Pick<Context, "store" | "clock">,
  kind: TokenKind,
  token: string,
): Promise<{ user_id: number; data: Data | null } | null> {
  return ctx.store.tx(async (store) => {
    const row = await findToken({ ...ctx, store }, kind, token);
    // If two requests have read the token, the one that deletes it succeeds.
    if (!row || (await store.oneTimeTokens.delete(eq("id", row.id))) === 0) return null;
    return { user_id: row.user_id, data: row.data };
  });
}

/** Deletes mailed tokens of the user; by default of all kinds. */
export async function endTokens(
  { store }: Pick<Context, "store">,
  userId: number,
  kinds?: readonly TokenKind[],
): Promise<void> {
  const ofUser = eq("user_id", userId);
  await store.oneTimeTokens.delete(kinds ? and(ofUser, oneOf("kind", kinds)) : ofUser);
}
