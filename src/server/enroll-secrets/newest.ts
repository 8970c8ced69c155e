import type { ServerTx } from "../core/tables.ts";
import { isNull, not } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { enrollSecrets } from "./tables.ts";

export type EnrollSecretRow = Pick<RowOf<typeof enrollSecrets>, "secret" | "secret_hash">;

/** By team, or null for the global ones: the secret that was added last, of those that enroll hosts. */
export async function newestSecrets(
  store: Pick<ServerTx, "enrollSecrets">,
): Promise<ReadonlyMap<number | null, EnrollSecretRow>> {
  const rows = await store.enrollSecrets.list({
    where: not(isNull("secret_hash")),
    order: [{ column: "id", direction: "asc" }],
  });
  return new Map(rows.map((row) => [row.team_id, row]));
}
