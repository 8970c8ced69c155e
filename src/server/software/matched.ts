import type { ServerTx } from "../core/tables.ts";

/** Stores that versions were compared with vulnerability data, and the names of their products there. */
export async function setMatched(
  tx: ServerTx,
  versions: readonly { readonly id: number; readonly generated_cpe: string }[],
): Promise<void> {
  await tx.software.updateEach(versions.map((version) => ({ ...version, is_matched: true })));
}
