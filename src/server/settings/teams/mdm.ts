// Device management settings of a team, or of hosts without one.
import type { MdmSettings } from "../../../api/settings/app-config.ts";
import type { OsSettings } from "../../../api/settings/os-settings.ts";
import type { Context } from "../../platform/core/context.ts";
import { groupBy } from "../../platform/core/maps.ts";
import { isNull, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import { shownSettings } from "./settings.ts";

/** What the settings of teams and those of hosts without a team have in common. */
export type SharedMdm = OsSettings & { readonly macos_setup: MdmSettings["macos_setup"] };

/** Null: hosts without a team. A team that was deleted in the meantime has the settings of no team. */
export async function mdmOfTeam(
  { store, config }: Pick<Context, "store" | "config">,
  teamId: number | null,
): Promise<SharedMdm> {
  const team = teamId === null ? null : await store.teams.get(teamId);
  return team ? shownSettings(team.settings).mdm : (await config.current()).mdm;
}

/** Settings of all teams, and of hosts without one under null. */
export async function mdmOfTeams({
  store,
  config,
}: Pick<Context, "store" | "config">): Promise<ReadonlyMap<number | null, SharedMdm>> {
  const [teams, { mdm }] = await Promise.all([store.teams.pick(["id", "settings"]), config.current()]);
  return new Map<number | null, SharedMdm>([
    [null, mdm],
    ...teams.map(({ id, settings }) => [id, shownSettings(settings).mdm] as const),
  ]);
}

/** The hosts of the teams that have this value; the same value of several teams is one. `settingOf` returns plain JSON. */
export function hostsBySetting<T>(
  settings: ReadonlyMap<number | null, SharedMdm>,
  settingOf: (mdm: SharedMdm) => T,
): { readonly value: T; readonly hosts: Predicate }[] {
  const ofTeam = (id: number | null): T => settingOf(settings.get(id)!);
  return [...groupBy([...settings.keys()], (id) => JSON.stringify(ofTeam(id))).values()].map((ids) => {
    const teams = ids.flatMap((id) => id ?? []);
    const hosts = or(oneOf("team_id", teams), ...(ids.includes(null) ? [isNull("team_id")] : []));
    return { value: ofTeam(ids[0]!), hosts };
  });
}
