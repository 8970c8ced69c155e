// Identifies trackers: by their outbox destination, and by the settings that enable them.
import { createHash } from "node:crypto";
import type { Integrations } from "../../../api/settings/app-config.ts";
import type { Tracker } from "./trackers.ts";

/** Maximum length of an indexed value in Postgres. */
const MAX_NAME_BYTES = 2_000;

function named(type: Tracker["type"], url: string, place: string | number): string {
  const name = `${type} ${url} ${place}`;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  return `${type} sha256:${createHash("sha256").update(name).digest("hex")}`;
}

const inA = ({ url, project_key }: { url: string; project_key: string }) => named("ticketing_a", url, project_key);
const inB = ({ url, group_id }: { url: string; group_id: number }) => named("ticketing_b", url, group_id);

export const destinationOfTracker = (tracker: Tracker): string =>
  tracker.type === "ticketing_a" ? inA(tracker.entry) : inB(tracker.entry);

/** Looked up at delivery, so that the current token is used. */
export function trackerOf({ ticketing_a, ticketing_b }: Integrations, destination: string): Tracker | null {
  const a = ticketing_a.find((entry) => inA(entry) === destination);
  if (a) return { type: "ticketing_a", entry: a };
  const b = ticketing_b.find((entry) => inB(entry) === destination);
  return b ? { type: "ticketing_b", entry: b } : null;
}

/** The first integration with this flag enabled. */
export function trackerWith(
  { ticketing_a, ticketing_b }: Integrations,
  flag: "enable_failing_policies" | "enable_software_vulnerabilities",
): Tracker | null {
  const a = ticketing_a.find((entry) => entry[flag]);
  if (a) return { type: "ticketing_a", entry: a };
  const b = ticketing_b.find((entry) => entry[flag]);
  return b ? { type: "ticketing_b", entry: b } : null;
}

export interface TeamTrackers {
  readonly ticketing_a: readonly { url: string; project_key: string; enable_failing_policies: boolean }[];
  readonly ticketing_b: readonly { url: string; group_id: number; enable_failing_policies: boolean }[];
}

/** The first integration enabled by a team. User and token come from the global configuration. */
export function trackerOfTeam(integrations: Integrations, teamTrackers: TeamTrackers): Tracker | null {
  const a = teamTrackers.ticketing_a.find(({ enable_failing_policies: on }) => on);
  if (a) return trackerOf(integrations, inA(a));
  const b = teamTrackers.ticketing_b.find(({ enable_failing_policies: on }) => on);
  return b ? trackerOf(integrations, inB(b)) : null;
}
