// The name of a device, made of its team's template.

import { createHash } from "node:crypto";
import type { Context } from "../../../platform/core/context.ts";
import { byId } from "../../../platform/core/maps.ts";
import { and, eq, exists, not, oneOf } from "../../../platform/store/query.ts";
import { mdmOfTeams } from "../../../settings/teams/mdm.ts";
import { valuesOnHosts } from "../../../settings/variables/use.ts";
import { fillVariables, isLate, namesIn, replaceNames, valuesOfHosts } from "../../profiles/variables.ts";
import { appleEnrollments } from "../channel/tables.ts";
import { isReachable } from "../push/devices.ts";

/** Devices that belong to their users keep the names that these have given them. */
export const isNameable = exists(appleEnrollments, "host_id", and(isReachable, not(eq("kind", "personal"))));

export interface DesiredName {
  readonly id: number;
  /** Null: a value is missing, or the name would be too long. */
  readonly name: string | null;
  /** Why there is no name. */
  readonly detail: string;
  readonly digest: string;
  /** The name that the host reports. */
  readonly current: string;
  readonly reported_at: string | null;
}

const NAME_MAX = 255;

/** What these hosts are to be called. Hosts without a template, and those that cannot be named, are not among them. */
export async function desiredNames(
  inside: Context,
  hostIds: readonly number[],
): Promise<ReadonlyMap<number, DesiredName>> {
  const { store } = inside;
  const settings = await mdmOfTeams({ store, config: inside.config.over(store) });
  const all = await store.hosts.pick(["id", "team_id", "computer_name", "detail_updated_at"], {
    where: and(oneOf("id", hostIds), isNameable),
  });
  const templateOf = (teamId: number | null): string => settings.get(teamId)?.name_template ?? "";
  const named = all.filter(({ team_id }) => templateOf(team_id) !== "");
  const templates = [...new Set(named.map(({ team_id }) => templateOf(team_id)))];
  const ids = named.map(({ id }) => id);
  const values = await valuesOfHosts(store, ids, templates);
  const secrets = await valuesOnHosts(store, templates.flatMap(namesIn).filter(isLate), ids, "host_names");
  return byId(
    named.flatMap(({ id, team_id, computer_name: current, detail_updated_at: reported_at }) => {
      const hostValues = values.get(id);
      if (hostValues === undefined) return [];
      const template = templateOf(team_id);
      const filled = fillVariables(template, "", hostValues, (value) => value);
      const text = replaceNames(filled.text, (key, whole) => secrets.get(id)?.get(key) ?? whole);
      const name = text.replaceAll(/\p{Cc}+/gu, " ").trim();
      const detail = problemOf(name, filled.missing);
      const digest = createHash("sha256")
        .update(JSON.stringify([template, filled.digest]))
        .digest("hex")
        .slice(0, 32);
      return [{ id, name: detail === "" ? name : null, detail, digest, current, reported_at }];
    }),
  );
}

function problemOf(name: string, missing: readonly string[]): string {
  if (missing.length > 0) return `This host has no value for ${missing.join(", ")}.`;
  return name.length > NAME_MAX ? `The name would have more than ${NAME_MAX} characters.` : "";
}
