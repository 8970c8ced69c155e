// Stores the Munki data that agents report: one row per host, written only if it differs from the previous one.

import { tableExists } from "../../platform/agent-protocol/detail-query.ts";
import { channels } from "../../platform/core/channels.ts";
import { isoAt } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { limit } from "../../platform/core/limits.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { admitNames } from "../../platform/host-limits/shared-names.ts";
import { oneOf } from "../../platform/store/query.ts";
import type { InsertOf } from "../../platform/store/table.ts";
import {
  type InventorySource,
  NOTHING_TO_WRITE,
  type ReportedValue,
  type SourcePlan,
  type SourceWriter,
} from "../hosts/inventory/source.ts";
import { type MunkiInventory, type MunkiIssue, munkiInventory } from "./inventory.ts";
import type { hostMunki } from "./tables.ts";

type HostMunkiRow = InsertOf<typeof hostMunki> & { id: number };

type Answer = MunkiInventory | "removed";

const CACHED_MAX = 10_000;
/** The maximum number of issues per host. Further ones are ignored. */
export const munkiIssuesLimit = limit({
  what: "issues of Munki",
  max: 200,
  unit: "entries",
  per: "host",
  beyond: "The rest is ignored.",
});

const keyOf = ({ name, type }: MunkiIssue): string => `${type}\0${name}`;

async function startMunki(services: Services): Promise<SourceWriter<Answer>> {
  const { store } = services;
  const held = new Map<string, number>();
  const forget = () => held.clear();

  async function issueIds(issues: readonly MunkiIssue[]): Promise<ReadonlyMap<string, number>> {
    const ids = new Map<string, number>();
    const missing = new Map<string, MunkiIssue>();
    for (const issue of issues) {
      const id = held.get(keyOf(issue));
      if (id === undefined) missing.set(keyOf(issue), issue);
      else ids.set(keyOf(issue), id);
    }
    if (missing.size === 0) return ids;
    const rows = await store.munkiIssues.upsert(
      [...missing.values()].map(({ name, type }) => ({ name, type })),
      { on: ["name", "type"], set: [], returning: ["id"] },
    );
    if (held.size >= CACHED_MAX) held.clear();
    [...missing.keys()].forEach((key, i) => {
      held.set(key, rows[i]!.id);
      ids.set(key, rows[i]!.id);
    });
    return ids;
  }

  /** Stores new issues, and plans the writes of the others. */
  async function plan(answers: readonly ReportedValue<Answer>[], now: number): Promise<SourcePlan> {
    const stored = new Map(
      (await store.hostMunki.getMany(answers.map(({ hostId }) => hostId))).map((row) => [row.id, row]),
    );
    const sent = answers.flatMap(({ hostId, value: munki }) =>
      munki === "removed"
        ? []
        : [{ hostId, version: munki.version, issues: munki.issues.slice(0, munkiIssuesLimit.max) }],
    );
    const isNew = (issue: MunkiIssue) => !held.has(keyOf(issue));
    const roomOf = await admitNames(
      services,
      new Map(sent.map(({ hostId, issues }) => [hostId, issues.filter(isNew).length])),
    );
    const reported = sent.map(({ hostId, version, issues }) => {
      let room = roomOf(hostId);
      return { hostId, version, issues: issues.filter((issue) => !isNew(issue) || room-- > 0) };
    });
    const ids = await issueIds(reported.flatMap(({ issues }) => issues));
    const rows = reported.flatMap(({ hostId, version, issues }): HostMunkiRow[] => {
      const old = stored.get(hostId);
      const issueIdsOfHost = [...new Set(issues.map((issue) => ids.get(keyOf(issue))!))].sort((a, b) => a - b);
      if (old?.version === version && String(old.issue_ids) === String(issueIdsOfHost)) return [];
      const since = Object.fromEntries(issueIdsOfHost.map((id) => [String(id), old?.since[String(id)] ?? isoAt(now)]));
      return [{ id: hostId, version, issue_ids: issueIdsOfHost, since, updated_at: isoAt(now) }];
    });
    const gone = answers.flatMap(({ hostId, value }) => (value === "removed" && stored.has(hostId) ? [hostId] : []));
    return rows.length + gone.length === 0 ? NOTHING_TO_WRITE : { write: (tx) => writeMunki(tx, rows, gone) };
  }

  const stop = await store.listen(channels.munki, forget, forget);
  return { plan, forget, stop };
}

/** `gone`: hosts that no longer have Munki. */
async function writeMunki(tx: ServerTx, rows: readonly HostMunkiRow[], gone: readonly number[]): Promise<void> {
  if (rows.length > 0) await tx.hostMunki.upsert(rows, { on: ["id"], returning: [] });
  if (gone.length > 0) await tx.hostMunki.delete(oneOf("id", gone));
}

export const munkiSource: InventorySource<Answer> = {
  queries: [
    {
      name: "munki",
      platforms: ["darwin"],
      discovery: tableExists("munki_info"),
      sql: "SELECT version, errors, warnings FROM munki_info;",
    },
  ],
  read({ rows, warn }) {
    const munkiRows = rows("munki");
    return munkiRows && munkiInventory(munkiRows, warn);
  },
  start: startMunki,
};
