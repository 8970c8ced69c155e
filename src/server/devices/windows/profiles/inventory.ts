// Profiles that agents find on Windows devices: they read the nodes that the profiles set.

import { readReplies } from "../../../../syncml/read.ts";
import { BadSyncml } from "../../../../syncml/value.ts";
import { writeCommands } from "../../../../syncml/write.ts";
import {
  type InventorySource,
  NOTHING_TO_WRITE,
  type ReportedValue,
  type SourceWriter,
} from "../../../hosts/hosts/inventory/source.ts";
import { tableExists } from "../../../platform/agent-protocol/detail-query.ts";
import { text } from "../../../platform/agent-protocol/rows.ts";
import { isoAt } from "../../../platform/core/clock.ts";
import type { Services } from "../../../platform/core/context.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq, oneOf } from "../../../platform/store/query.ts";
import { applyEvents } from "../../profiles/host-rows.ts";
import { notifyProfiles } from "../../profiles/part.ts";
import type { HostProfileRow } from "../../profiles/platform.ts";
import { nextState, type ProfileEvent } from "../../profiles/state.ts";
import type { ProfileStatus } from "../../profiles/tables.ts";
import { deviceOfHost } from "../channel/devices.ts";
import { checksOfRows, differenceOf, getOf, type Replies } from "./checks.ts";

const QUERY = "windows_profiles";
const OUTPUT = "raw_mdm_command_output";
export const windowsOutput = limit({
  what: "settings that the agent of a Windows device reads back",
  max: 2 * 1024 * 1024,
  unit: "characters",
  beyond: "The rest is cut off, and the report counts as not answered.",
});
/** Nodes in one question, which asks for each profile as a whole. */
const NODES_MAX = 1_000;
const TEXT_MAX = 256 * 1024;
export const windowsMissing = limit({
  what: "reason why settings of a Windows profile are missing",
  max: 1_000,
  unit: "characters",
  beyond: "The rest is cut off.",
});

/** What is not known yet comes first. */
const verifiable: readonly ProfileStatus[] = ["verifying", "failed", "verified"];

const rowsOf = (store: Pick<ServerTx, "hostProfiles">, hostIds: readonly number[]): Promise<HostProfileRow[]> =>
  store.hostProfiles.list({
    where: and(
      oneOf("host_id", hostIds),
      eq("platform", "windows"),
      eq("operation_type", "install"),
      oneOf("status", verifiable),
    ),
  });

/** The query for one host; null: no profile of it can be read. */
async function textFor({ store }: Pick<Services, "store">, { id }: { readonly id: number }): Promise<string | null> {
  const rows = await rowsOf(store, [id]);
  if (rows.length === 0 || !(await deviceOfHost(store, id))) return null;
  const checks = await checksOfRows(store, rows);
  const gets = new Map<string, string>();
  let size = 0;
  for (const row of rows.sort((a, b) => verifiable.indexOf(a.status!) - verifiable.indexOf(b.status!))) {
    const rowGets = (checks.get(row.id) ?? []).map((check) => [check.cmdId, writeCommands([getOf(check)])] as const);
    const more = rowGets.reduce((sum, [, get]) => sum + get.length, 0);
    if (gets.size + rowGets.length > NODES_MAX || size + more > TEXT_MAX) continue;
    size += more;
    for (const [cmdId, get] of rowGets) gets.set(cmdId, get);
  }
  if (gets.size === 0) return null;
  const input = `<SyncBody>${[...gets.values()].join("")}</SyncBody>`;
  return `SELECT ${OUTPUT} FROM mdm_bridge WHERE mdm_command_input = '${input.replaceAll("'", "''")}';`;
}

function repliesIn(output: string): Replies {
  const replies = new Map<string, { status: string | null; data: string | null }>();
  for (const { verb, cmdRef, data, items } of readReplies(output)) {
    if (cmdRef === null || (verb !== "Status" && verb !== "Results")) continue;
    const reply = replies.get(cmdRef) ?? { status: null, data: null };
    replies.set(cmdRef, verb === "Status" ? { ...reply, status: data } : { ...reply, data: items[0]?.data ?? null });
  }
  return replies;
}

interface ProfileVerdict {
  readonly row: HostProfileRow;
  readonly event: ProfileEvent;
}

/** What the report says of each profile. Profiles of which something was not asked are not among them. */
async function verdictsOf(
  { store }: Pick<Services, "store">,
  reported: readonly ReportedValue<Replies>[],
  now: number,
): Promise<ProfileVerdict[]> {
  const byHost = new Map(reported.map(({ hostId, value }) => [hostId, value]));
  const rows = await rowsOf(store, [...byHost.keys()]);
  const checks = await checksOfRows(store, rows);
  const reported_at = isoAt(now);
  return rows.flatMap((row) => {
    const hostChecks = checks.get(row.id);
    if (!hostChecks) return [];
    const differences = hostChecks.map((check) => differenceOf(check, byHost.get(row.host_id)!));
    if (differences.includes("unknown")) return [];
    const detail = differences.filter((difference) => difference !== null).join("; ");
    const event: ProfileEvent =
      detail === ""
        ? { type: "listed", installed_at: null, reported_at }
        : { type: "missing", reported_at, detail: detail.slice(0, windowsMissing.max) };
    return nextState(row, event) === row ? [] : [{ row, event }];
  });
}

const isUnchanged = (row: HostProfileRow, other: HostProfileRow): boolean =>
  row.checksum === other.checksum &&
  row.variables === other.variables &&
  row.status === other.status &&
  row.installed_after === other.installed_after;

function startWriter({ store, clock }: Services): SourceWriter<Replies> {
  return {
    async plan(reported, now) {
      const verdicts = await verdictsOf({ store }, reported, now);
      if (verdicts.length === 0) return NOTHING_TO_WRITE;
      const hostIds = [...new Set(verdicts.map(({ row }) => row.host_id))];
      return {
        async write(tx) {
          const rows = new Map((await rowsOf(tx, hostIds)).map((row) => [row.id, row]));
          const current = verdicts.flatMap(({ row: before, event }) => {
            const row = rows.get(before.id);
            return row && isUnchanged(row, before) ? [{ row, event }] : [];
          });
          await applyEvents({ store: tx, clock }, current);
          await notifyProfiles(tx, { hostIds });
        },
      };
    },
  };
}

export const windowsProfileInventory: InventorySource<Replies> = {
  queries: [{ name: QUERY, platforms: ["windows"], perHost: true, discovery: tableExists("mdm_bridge"), sql: "" }],
  textFor,
  read({ rows, warn }) {
    const [row] = rows(QUERY) ?? [];
    if (!row) return null;
    try {
      return repliesIn(text(row, OUTPUT, windowsOutput.max));
    } catch (error) {
      if (!(error instanceof BadSyncml)) throw error;
      warn(QUERY, error.message);
      return null;
    }
  },
  start: startWriter,
};
