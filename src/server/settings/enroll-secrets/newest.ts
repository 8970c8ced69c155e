import type { ServerTx } from "../../platform/core/tables.ts";
import { isNull, not } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { enrollSecrets } from "./tables.ts";

export type EnrollSecretRow = Pick<RowOf<typeof enrollSecrets>, "secret" | "secret_hash">;

/**
 * By team, or null for the global ones: the secret that was added last, of those that enroll hosts. One that never
 * expires is preferred, because profiles contain it for a long time.
 */
export async function newestSecrets(
  store: Pick<ServerTx, "enrollSecrets">,
): Promise<ReadonlyMap<number | null, EnrollSecretRow>> {
  const rows = await store.enrollSecrets.list({
    where: not(isNull("secret_hash")),
    order: [{ column: "id", direction: "asc" }],
  });
  const isLasting = ({ expires_at }: { readonly expires_at: string | null }) => expires_at === null;
  return new Map(
    [...rows.filter((row) => !isLasting(row)), ...rows.filter(isLasting)].map((row) => [row.team_id, row]),
  );
}
