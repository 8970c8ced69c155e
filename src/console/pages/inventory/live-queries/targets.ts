// Whom a live query asks.
import type { SelectedTargets } from "../../../../api/inventory/live-queries.ts";

export const targetModes = ["all", "selector", "list"] as const;
export type TargetMode = (typeof targetModes)[number];

export interface TargetHost {
  readonly id: number;
  /** Null: only the id is known. */
  readonly name: string | null;
}

export interface Targets {
  readonly mode: TargetMode;
  readonly where: string;
  readonly hosts: readonly TargetHost[];
  readonly labels: readonly number[];
  readonly teams: readonly number[];
}

/** The targets that a link to the page names: `host_id`, `label_id`, `where`. */
export function targetsIn(url: URLSearchParams): Targets {
  const ids = (name: string) =>
    url
      .getAll(name)
      .flatMap((text) => text.split(","))
      .filter((text) => /^\d{1,15}$/.test(text))
      .map(Number);
  const hosts = [...ids("host_id"), ...ids("host_ids")];
  const labels = ids("label_id");
  const where = url.get("where") ?? "";
  return {
    mode: hosts.length > 0 || labels.length > 0 ? "list" : where === "" ? "all" : "selector",
    where,
    hosts: hosts.map((id) => ({ id, name: null })),
    labels,
    teams: [],
  };
}

/** The part of the request's body. `teamId`: the team of the page, which limits all targets that are not listed. */
export function requestOf(
  { mode, where, hosts, labels, teams }: Targets,
  { teamId, allHosts }: { readonly teamId: number | null; readonly allHosts: number | undefined },
): { readonly where?: string; readonly selected?: SelectedTargets } {
  const ofTeam = teamId === null ? [] : [teamId];
  if (mode === "selector") return { where: where.trim(), ...(teamId === null ? {} : { selected: { teams: ofTeam } }) };
  if (mode === "list")
    return { selected: { hosts: hosts.map(({ id }) => id), labels: [...labels], teams: [...teams] } };
  return { selected: { labels: allHosts === undefined ? [] : [allHosts], teams: ofTeam } };
}
