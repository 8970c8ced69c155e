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

interface ReportedMunki {
  readonly hostId: number;
  readonly version: MunkiInventory["version"];
  readonly issues: readonly MunkiIssue[];
}

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

class MunkiWriter implements SourceWriter<Answer> {
  readonly #services: Services;
  /** The ids of issues by `keyOf`. */
  readonly #cachedIds = new Map<string, number>();
  #unlisten = async () => {};

  static async start(services: Services): Promise<MunkiWriter> {
    const writer = new MunkiWriter(services);
    const forget = () => writer.forget();
    writer.#unlisten = await services.store.listen(channels.munki, forget, forget);
    return writer;
  }

  constructor(services: Services) {
    this.#services = services;
  }

  /** Stores new issues, and plans the writes of the others. */
  async plan(answers: readonly ReportedValue<Answer>[], now: number): Promise<SourcePlan> {
    const { store } = this.#services;
    const stored = new Map(
      (await store.hostMunki.getMany(answers.map(({ hostId }) => hostId))).map((row) => [row.id, row]),
    );
    const reported = await this.#admitted(answers);
    const ids = await this.#issueIds(reported.flatMap(({ issues }) => issues));
    const rows = reported.flatMap(({ hostId, version, issues }): HostMunkiRow[] => {
      const old = stored.get(hostId);
      const issueIds = [...new Set(issues.map((issue) => ids.get(keyOf(issue))!))].sort((a, b) => a - b);
      if (old?.version === version && String(old.issue_ids) === String(issueIds)) return [];
      const since = Object.fromEntries(issueIds.map((id) => [String(id), old?.since[String(id)] ?? isoAt(now)]));
      return [{ id: hostId, version, issue_ids: issueIds, since, updated_at: isoAt(now) }];
    });
    const gone = answers.flatMap(({ hostId, value }) => (value === "removed" && stored.has(hostId) ? [hostId] : []));
    return rows.length + gone.length === 0 ? NOTHING_TO_WRITE : { write: (tx) => writeMunki(tx, rows, gone) };
  }

  forget(): void {
    this.#cachedIds.clear();
  }

  stop(): Promise<void> {
    return this.#unlisten();
  }

  /** What hosts report, without new issues of hosts that have added too many. */
  async #admitted(answers: readonly ReportedValue<Answer>[]): Promise<ReportedMunki[]> {
    const sent = answers.flatMap(({ hostId, value: munki }) =>
      munki === "removed"
        ? []
        : [{ hostId, version: munki.version, issues: munki.issues.slice(0, munkiIssuesLimit.max) }],
    );
    const isNew = (issue: MunkiIssue) => !this.#cachedIds.has(keyOf(issue));
    const roomOf = await admitNames(
      this.#services,
      new Map(sent.map(({ hostId, issues }) => [hostId, issues.filter(isNew).length])),
    );
    return sent.map(({ hostId, version, issues }) => {
      let room = roomOf(hostId);
      return { hostId, version, issues: issues.filter((issue) => !isNew(issue) || room-- > 0) };
    });
  }

  async #issueIds(issues: readonly MunkiIssue[]): Promise<ReadonlyMap<string, number>> {
    const cached = this.#cachedIds;
    const ids = new Map<string, number>();
    const missing = new Map<string, MunkiIssue>();
    for (const issue of issues) {
      const id = cached.get(keyOf(issue));
      if (id === undefined) missing.set(keyOf(issue), issue);
      else ids.set(keyOf(issue), id);
    }
    if (missing.size === 0) return ids;
    const rows = await this.#services.store.munkiIssues.upsert(
      [...missing.values()].map(({ name, type }) => ({ name, type })),
      { on: ["name", "type"], set: [], returning: ["id"] },
    );
    if (cached.size >= CACHED_MAX) cached.clear();
    [...missing.keys()].forEach((key, i) => {
      cached.set(key, rows[i]!.id);
      ids.set(key, rows[i]!.id);
    });
    return ids;
  }
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
  start: MunkiWriter.start,
};
