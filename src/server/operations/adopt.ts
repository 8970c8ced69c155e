// Adds operations that were requested of earlier versions of the server.
import { createHash } from "node:crypto";
import type { Context } from "../core/context.ts";
import type { InsertOf } from "../store/table.ts";
import type { operations } from "./tables.ts";

export interface EarlierOperation {
  readonly operation: Omit<InsertOf<typeof operations>, "content_id">;
  readonly content: string;
}

export async function adoptOperations(
  { store, clock }: Pick<Context, "store" | "clock">,
  earlier: readonly EarlierOperation[],
): Promise<void> {
  const contents = [...new Set(earlier.map(({ content }) => content))].map((content) => ({
    digest: createHash("sha256").update(content).digest("hex"),
    content,
    used_at: clock.iso(),
  }));
  const rows = await store.operationContents.upsert(contents, { on: ["digest"], returning: ["id"] });
  const idOf = new Map(contents.map(({ content }, i) => [content, rows[i]!.id]));
  await store.operations.insertMany(
    earlier.map(({ operation, content }) => ({ ...operation, content_id: idOf.get(content)! })),
  );
}
