// The commands that set and delete the deadlines of a device (MS-MDM; Policy CSP, Update).

import { type SyncCommand, syncCommand } from "../../../../syncml/value.ts";
import { and, eq, isNull } from "../../../platform/store/query.ts";
import { windowsCommandKind } from "../commands/kind.ts";

export const windowsDeadlines = windowsCommandKind({
  name: "windows_update_deadlines",
  title: "update deadlines",
  async ended({ store }, { host_id, uuid }, { state }) {
    const byCommand = and(eq("id", host_id), eq("command_uuid", uuid));
    if (state === "cancelled") await store.windowsUpdates.update({ where: byCommand, set: { command_uuid: null } });
    else await store.windowsUpdates.delete(and(byCommand, isNull("deadline_days")));
  },
});

/** Null: there are none. */
export type Deadlines = { readonly deadline_days: number; readonly grace_period_days: number } | null;

const UPDATE = "./Device/Vendor/MSFT/Policy/Config/Update";
const nodes = {
  ConfigureDeadlineForFeatureUpdates: "deadline_days",
  ConfigureDeadlineForQualityUpdates: "deadline_days",
  ConfigureDeadlineGracePeriod: "grace_period_days",
} as const;

export function commandOf(deadlines: Deadlines): SyncCommand {
  const targets = Object.entries(nodes).map(([node, setting]) => ({ target: `${UPDATE}/${node}`, setting }));
  // Deletes on their own: one whose node is not there would undo an Atomic.
  if (deadlines === null)
    return syncCommand("Sequence", "", {
      commands: targets.map(({ target }) => syncCommand("Delete", "", { items: [{ target }] })),
    });
  return syncCommand("Atomic", "", {
    commands: targets.map(({ target, setting }) =>
      syncCommand("Replace", "", {
        items: [{ target, format: "int", type: "text/plain", data: String(deadlines[setting]) }],
      }),
    ),
  });
}
