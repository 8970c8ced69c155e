// Deletes Munki issues that no host reports any more. Their texts may differ each time.
import { channels } from "../../platform/core/channels.ts";
import type { Services } from "../../platform/core/context.ts";
import type { ServerStore } from "../../platform/core/tables.ts";
import { removeUnused } from "../../platform/shared-rows/unused.ts";
import { has, oneOf } from "../../platform/store/query.ts";

const BATCH_SIZE = 1000;

export async function removeUnusedIssues(services: Services, signal: AbortSignal): Promise<void> {
  const { store, log } = services;
  const reported = await reportedIssues(store, signal);
  if (signal.aborted) return;
  const stored = new Set((await store.munkiIssues.pick(["id"])).map(({ id }) => id));
  const unused = [...stored].filter((id) => !reported.has(id));
  const removed = await removeUnused(services, "munki_issues", unused, (ids) =>
    store.munkiIssues.delete(oneOf("id", ids)),
  );
  if (removed > 0) await store.notify(channels.munki, "");
  await forgetLost(
    store,
    [...reported].filter((id) => !stored.has(id)),
    log,
  );
}

async function reportedIssues(store: ServerStore, signal: AbortSignal): Promise<Set<number>> {
  const reported = new Set<number>();
  for await (const rows of store.hostMunki.pages({}, BATCH_SIZE)) {
    if (signal.aborted) break;
    for (const { issue_ids } of rows) for (const id of issue_ids) reported.add(id);
  }
  return reported;
}

/**
 * A host may report an issue at the moment in which it is deleted. Clearing the host's issues makes the server store
 * its next report completely.
 */
async function forgetLost(
  store: ServerStore,
  missing: readonly number[],
  log: { warn(details: object, text: string): void },
): Promise<void> {
  if (missing.length === 0) return;
  // The issues may have been inserted in the meantime.
  const stored = new Set((await store.munkiIssues.getMany(missing)).map(({ id }) => id));
  const lost = missing.filter((id) => !stored.has(id));
  if (lost.length === 0) return;
  const hosts = await store.hostMunki.update({ where: has("issue_ids", ...lost), set: { issue_ids: [], since: {} } });
  await store.notify(channels.munki, "");
  log.warn({ hosts }, "hosts with unknown Munki issues will report them again");
}
