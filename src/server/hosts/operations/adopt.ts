// Adds operations that were requested of earlier versions of the server.
import type { Context } from "../../platform/core/context.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import { keepContents } from "./contents.ts";
import type { operations } from "./tables.ts";

interface EarlierOperation {
  readonly operation: Omit<InsertOf<typeof operations>, "content_id">;
  readonly content: string;
}

export async function adoptOperations(
  { store, clock }: Pick<Context, "store" | "clock">,
  earlier: readonly EarlierOperation[],
): Promise<void> {
  const ids = await keepContents(
    { store, clock },
    earlier.map(({ content }) => content),
  );
  await store.operations.insertMany(
    earlier.map(({ operation, content }) => ({ ...operation, content_id: ids.get(content)! })),
  );
}
