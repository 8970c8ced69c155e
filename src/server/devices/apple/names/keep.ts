// Devices get the names that the templates of their teams give them.

import { lockOperations } from "../../../hosts/operations/queue.ts";
import { channels } from "../../../platform/core/channels.ts";
import { minutes } from "../../../platform/core/clock.ts";
import { settingsFollower } from "../../../platform/core/concurrency/settings-follower.ts";
import { type Context, type Services, serviceContext, within } from "../../../platform/core/context.ts";
import type { Job } from "../../../platform/core/job.ts";
import { byId } from "../../../platform/core/maps.ts";
import { and, exists, oneOf, or, type Predicate } from "../../../platform/store/query.ts";
import { hostsBySetting, mdmOfTeams } from "../../../settings/teams/mdm.ts";
import { changeName, dropNames, type NameRow, putNames } from "../../host-names/rows.ts";
import { hostNames } from "../../host-names/tables.ts";
import { dropNameCommands, isSameName, isToSend, otherName, sendSteps } from "./device-name.ts";
import { type DesiredName, desiredNames, isNameable } from "./fill.ts";

/** Hosts in one transaction. */
const BATCH_SIZE = 500;
/** Serializes the comparison, so that no two servers send the same device its name. */
const COMPARING = { lock: "host-names" } as const;

/** Compares all hosts with the templates of their teams. Returns how many had to be changed. */
export async function keepHostNames(services: Services, signal?: AbortSignal): Promise<number> {
  const ctx = serviceContext(services, "host names");
  let changed = 0;
  for await (const page of ctx.store.hosts.pages({ where: await concerned(ctx) }, BATCH_SIZE, ["id"])) {
    if (signal?.aborted) return changed;
    const ids = page.map(({ id }) => id);
    const different = idsIn(await differencesOf(ctx, ids));
    if (different.length === 0) continue;
    changed += different.length;
    await ctx.store.tx(async (store) => {
      await lockOperations(store, different);
      await nameHosts(within(ctx, store), different);
    }, COMPARING);
  }
  return changed;
}

/** Devices whose teams have a template, and all hosts that have got a name by one. */
async function concerned(ctx: Context): Promise<Predicate> {
  const bySetting = hostsBySetting(await mdmOfTeams(ctx), ({ name_template }) => name_template !== "");
  const templated = bySetting.flatMap(({ value, hosts }) => (value ? [and(isNameable, hosts)] : []));
  return or(exists(hostNames, "id"), ...templated);
}

interface Differences {
  /** Rows that are to be as the template says, with their commands sent. */
  readonly renamed: readonly { readonly before: NameRow | undefined; readonly want: DesiredName }[];
  readonly ended: readonly NameRow[];
  /** What the hosts have reported since says otherwise. */
  readonly reported: readonly Pick<NameRow, "id" | "status" | "detail">[];
  readonly toSend: readonly number[];
}

const idsIn = ({ renamed, ended, reported, toSend }: Differences): number[] => [
  ...new Set([
    ...renamed.map(({ want }) => want.id),
    ...ended.map(({ id }) => id),
    ...reported.map(({ id }) => id),
    ...toSend,
  ]),
];

async function differencesOf(inside: Context, hostIds: readonly number[]): Promise<Differences> {
  const { store } = inside;
  const desired = await desiredNames(inside, hostIds);
  const existing = byId(await store.hostNames.list({ where: oneOf("id", hostIds) }));
  const unsent = await store.hostNames.pick(["id"], { where: and(oneOf("id", hostIds), isToSend) });
  const renamed = [...desired.values()].flatMap((want) => {
    const before = existing.get(want.id);
    return before?.digest === want.digest ? [] : [{ before, want }];
  });
  return {
    renamed,
    ended: [...existing.values()].filter(({ id }) => !desired.has(id)),
    reported: [...desired.values()].flatMap((want) => {
      const row = existing.get(want.id);
      return row?.digest === want.digest ? (reportedState(row, want) ?? []) : [];
    }),
    toSend: unsent.flatMap(({ id }) => (desired.has(id) ? [id] : [])),
  };
}

/** What the host has reported since its status was determined; null: nothing new. */
function reportedState(row: NameRow, { current, reported_at }: DesiredName) {
  const isSettled = row.step === null && row.name !== null;
  if (!isSettled || reported_at === null || reported_at <= row.changed_at) return null;
  const isRight = isSameName(current, row.name);
  if (isRight === (row.status === "verified")) return null;
  return isRight
    ? ({ id: row.id, status: "verified", detail: "" } as const)
    : ({ id: row.id, status: "failed", detail: otherName(current) } as const);
}

/** Gives these hosts what they lack, in the caller's transaction, under the locks of their operations. */
export async function nameHosts(inside: Context, hostIds: readonly number[]): Promise<void> {
  const { store, clock } = inside;
  const { renamed, ended, reported } = await differencesOf(inside, hostIds);
  const now = clock.iso();
  await dropNameCommands(inside, [...ended, ...renamed.flatMap(({ before }) => before ?? [])]);
  if (ended.length > 0)
    await dropNames(
      store,
      ended.map(({ id }) => id),
    );
  if (renamed.length > 0)
    await putNames(
      store,
      renamed.map(({ want: { id, name, detail, digest } }) => ({
        id,
        name,
        digest,
        status: name === null ? "failed" : "pending",
        detail,
        step: name === null ? null : "set",
        command_uuid: null,
        changed_at: now,
      })),
    );
  for (const { id, status, detail } of reported) await changeName(store, id, { status, detail, changed_at: now });
  await sendSteps(inside, hostIds);
}

/** Compares soon after settings or custom variables have changed, devices have enrolled, or hosts have changed teams. */
export const hostNameKeeper = settingsFollower(
  "host names",
  { failure: "cannot send names to devices; trying again", also: [channels.hostNames] },
  (services) => keepHostNames(services),
);

/** Compares what hosts have reported, and finds whatever was missed. */
export const hostNamesJob: Job = {
  name: "host_names",
  every: minutes(10),
  async run(services, signal) {
    await keepHostNames(services, signal);
  },
};
