// What devices report about their declarations becomes the status of profiles.

import { z } from "zod";
import type { Context } from "../../../platform/core/context.ts";
import { badRequest } from "../../../platform/core/errors.ts";
import { limit } from "../../../platform/core/limits.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { and, eq } from "../../../platform/store/query.ts";
import { applyEvents, changingHosts } from "../../profiles/host-rows.ts";
import type { HostProfileRow } from "../../profiles/platform.ts";
import { nextState, type ProfileEvent } from "../../profiles/state.ts";
import { type Declaration, declarationsOf, UPDATE_ACTIVATION } from "./set.ts";
import { type DeadlineVerdict, keepUpdateReport, SoftwareUpdateItems } from "./update-reports.ts";
import { UPDATE_DEADLINE } from "./updates.ts";

/** Limit of a report, and of the text shown for a profile. */
export const statusReport = limit({
  what: "report of an Apple device about declarations",
  max: 2 * 1024 * 1024,
  unit: "bytes",
  beyond: "The report is refused with 400.",
});
export const statusDetail = limit({
  what: "reason why an Apple device could not use a declaration",
  max: 1_000,
  unit: "characters",
  beyond: "The rest is cut off.",
});

const Reason = z.object({ code: z.string().catch(""), description: z.string().catch("") });
const ReportedDeclaration = z.object({
  identifier: z.string(),
  "server-token": z.string().catch(""),
  active: z.boolean().catch(false),
  valid: z.string().catch("unknown"),
  reasons: z.array(Reason).catch([]),
});
type ReportedDeclaration = z.infer<typeof ReportedDeclaration>;

const List = z.array(ReportedDeclaration).max(10_000).optional();
const StatusReport = z.object({
  StatusItems: z
    .object({
      management: z
        .object({ declarations: z.object({ activations: List, configurations: List }).optional() })
        .optional(),
      softwareupdate: SoftwareUpdateItems.optional(),
    })
    .default({}),
  Errors: z.array(z.unknown()).max(10_000).default([]),
  FullReport: z.boolean().default(false),
});
type StatusReport = z.infer<typeof StatusReport>;

export async function takeReport(ctx: Context, hostId: number, data: Uint8Array): Promise<void> {
  const report = readReport(data);
  if (report.Errors.length > 0)
    ctx.log.warn(
      { host_id: hostId, errors: JSON.stringify(report.Errors.slice(0, 10)).slice(0, statusDetail.max) },
      "a device could not report a part of its status",
    );
  await keepUpdateReport(ctx, hostId, report.StatusItems.softwareupdate, await verdictOn(ctx, hostId, report));
  // Most reports change nothing, and need no transaction.
  if ((await eventsOf(ctx, hostId, report)).length === 0) return;
  await ctx.store.tx((store) =>
    // Whoever changes profiles of the host waits, and what is read here is what is changed.
    changingHosts({ store, clock: ctx.clock }, [hostId], async () => {
      await applyEvents({ store, clock: ctx.clock }, await eventsOf({ ...ctx, store }, hostId, report));
    }),
  );
}

function readReport(data: Uint8Array): StatusReport {
  const refused = (reason: string) => badRequest(`Data is not a status report: ${reason}`, "Data");
  if (data.byteLength > statusReport.max) throw refused(`it is larger than ${statusReport.max} bytes`);
  const report = StatusReport.safeParse(parsed(Buffer.from(data).toString("utf8")));
  if (!report.success) throw refused(`${report.error.issues[0]?.path.join(".")} is not as expected`);
  return report.data;
}

/** Undefined, which no schema accepts, if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface HostEvent {
  readonly row: HostProfileRow;
  readonly event: ProfileEvent;
}

async function eventsOf(
  { store, clock }: Pick<Context, "clock"> & { readonly store: ServerTx },
  hostId: number,
  { StatusItems, FullReport }: StatusReport,
): Promise<HostEvent[]> {
  const { activations = [], configurations } = StatusItems.management?.declarations ?? {};
  if (configurations === undefined) return [];
  const listed = byIdentifier(configurations);
  const listedActivations = byIdentifier(activations);
  const events: HostEvent[] = [];
  for (const { row, configuration, activation } of (await declarationsOf({ store }, hostId)).profiles) {
    const listing = current(listed, configuration);
    const state = listing && stateOf(listing, current(listedActivations, activation));
    if (state) events.push({ row, event: { type: "declared", ...state } });
    else if (FullReport && !listed.has(row.identifier))
      events.push({ row, event: { type: "missing", reported_at: clock.iso() } });
  }
  // Other reports contain what has changed only.
  if (FullReport)
    for (const row of await removals(store, hostId))
      if (!listed.has(row.identifier)) events.push({ row, event: { type: "removed" } });
  return events.filter(({ row, event }) => nextState(row, event) !== row);
}

/** What the device makes of its update deadline; null: the report does not contain that. */
async function verdictOn(
  { store }: Context,
  hostId: number,
  { StatusItems }: StatusReport,
): Promise<DeadlineVerdict | null> {
  const { activations = [], configurations = [] } = StatusItems.management?.declarations ?? {};
  if (!configurations.some(({ identifier }) => identifier === UPDATE_DEADLINE)) return null;
  const { declarations } = await declarationsOf({ store }, hostId);
  const declared = declarations.find(({ identifier }) => identifier === UPDATE_DEADLINE);
  const listing = declared && current(byIdentifier(configurations), declared);
  const activation = declarations.find(({ identifier }) => identifier === UPDATE_ACTIVATION);
  const state = listing && stateOf(listing, activation && current(byIdentifier(activations), activation));
  return state ? { is_accepted: state.state !== "invalid", refusal: state.detail } : null;
}

const removals = (store: ServerTx, hostId: number): Promise<HostProfileRow[]> =>
  store.hostProfiles.list({
    where: and(eq("host_id", hostId), eq("kind", "declaration"), eq("operation_type", "remove")),
  });

const byIdentifier = (list: readonly ReportedDeclaration[]): ReadonlyMap<string, ReportedDeclaration> =>
  new Map(list.map((listing) => [listing.identifier, listing]));

/** What is reported of earlier content does not count. */
function current(
  listed: ReadonlyMap<string, ReportedDeclaration>,
  { identifier, token }: Declaration,
): ReportedDeclaration | undefined {
  const listing = listed.get(identifier);
  return listing?.["server-token"] === token ? listing : undefined;
}

type DeclaredState = Omit<Extract<ProfileEvent, { type: "declared" }>, "type">;

/** Null: the device has not processed it yet. */
function stateOf(
  configuration: ReportedDeclaration,
  activation: ReportedDeclaration | undefined,
): DeclaredState | null {
  for (const listing of [configuration, activation])
    if (listing?.valid === "invalid") return { state: "invalid", detail: detailOf(listing) };
  if (configuration.valid !== "valid") return null;
  return { state: configuration.active ? "active" : "valid", detail: "" };
}

const detailOf = ({ reasons }: ReportedDeclaration): string =>
  reasons
    .map(({ code, description }) => [code, description].filter((text) => text !== "").join(": "))
    .filter((text) => text !== "")
    .join("; ")
    .slice(0, statusDetail.max) || "The device reports the declaration as invalid, without a reason.";
