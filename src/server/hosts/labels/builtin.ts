import type { Services } from "../../platform/core/context.ts";
import { and, eq } from "../../platform/store/query.ts";
import { builtinLabels } from "./builtin-labels.ts";
import { setMembers } from "./members.ts";

/**
 * Creates the built-in labels. The queries of a newer server version replace the older ones. Devices that enrolled with a
 * server version that had no members in the labels of their platforms become members.
 */
export async function ensureBuiltinLabels({ store, clock }: Pick<Services, "store" | "clock">): Promise<void> {
  await store.tx(
    async (tx) => {
      const have = new Map(
        (await tx.labels.list({ where: eq("label_type", "builtin") })).map((label) => [label.name, label]),
      );
      const changed = builtinLabels.filter((label) => {
        const old = have.get(label.name);
        return !old || Object.entries(label).some(([column, value]) => old[column as keyof typeof label] !== value);
      });
      const now = clock.iso();
      await tx.labels.upsert(
        changed.map((label) => ({ ...label, created_at: now, updated_at: now })),
        {
          on: ["name"],
          set: ["updated_at", "description", "query", "platform", "label_type", "label_membership_type"],
        },
      );
    },
    { lock: "builtin-labels" },
  );
  for (const { id, platform } of await store.labels.list({
    where: and(eq("label_type", "builtin"), eq("label_membership_type", "manual")),
  }))
    await setMembers(store, id, eq("platform", platform));
}
