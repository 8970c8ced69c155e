// The current state of all configuration objects, from a single moment, with a revision of each object.
import type { z } from "zod";
import type { ConfigurationState, configurationApi } from "../../api/configuration.ts";
import { sections } from "../app-config/sections.ts";
import { inTurns } from "../core/concurrency/parts.ts";
import { type Context, isPremium, within } from "../core/context.ts";
import { hostsByName } from "../labels/members.ts";
import { nameHosts } from "../labels/spec.ts";
import { type Held, type HostName, readHeld } from "./held.ts";
import { authorityThings } from "./kinds/ca.ts";
import { configDefaults, configThings } from "./kinds/config.ts";
import { secretsThing } from "./kinds/enroll-secrets.ts";
import { labelThings } from "./kinds/labels.ts";
import { policyThings } from "./kinds/policies.ts";
import { queryThings } from "./kinds/queries.ts";
import { noTeamDefaults, noTeamThing, teamSettingsDefaults, teamThings } from "./kinds/teams.ts";
import { type Refs, revisionKey, revisionOf, shown, type Thing } from "./values.ts";

type Body = z.output<(typeof configurationApi)["state"]["body"]>;

export async function configurationState(ctx: Context, body: Body): Promise<ConfigurationState> {
  const key = await revisionKey(ctx);
  const { held, hosts } = await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      return { held: await readHeld(inside), hosts: await hostsOf(inside, body.hosts ?? []) };
    },
    { snapshot: true },
  );
  const refs: Refs = new Map(Object.entries(body.secrets ?? {}).map(([ref, text]) => [text, ref]));
  const things: ConfigurationState["things"] = [];
  for await (const thing of inTurns(thingsOf(held))) {
    const { value, ...called } = thing;
    things.push({ ...called, value: inOrder(thing, shown(value, refs)), revision: revisionOf(key, thing) });
  }
  return {
    things,
    defaults: {
      config: shown(configDefaults(), refs) as Record<string, z.core.util.JSONType>,
      team_settings: shown(teamSettingsDefaults, refs),
      no_team_settings: shown(noTeamDefaults, refs),
      agent_options: shown(sections.agent_options.defaults, refs),
    },
    builtin_labels: namesOf(held, "builtin"),
    labels: namesOf(held, "regular"),
    hosts,
    tier: isPremium(ctx) ? "premium" : "free",
  };
}

const namesOf = ({ labels }: Held, type: "builtin" | "regular"): string[] =>
  labels.filter(({ label_type }) => label_type === type).map(({ name }) => name);

/** A generator, so that each object is built only when it is used. */
export function* thingsOf(held: Held): Generator<Thing> {
  if (held.sections) yield* configThings(held.sections);
  yield* authorityThings(held.authorities);
  yield* labelThings(held);
  yield* teamThings(held.teams);
  if (held.noTeam) yield noTeamThing(held.noTeam);
  yield* secretThings(held);
  yield* policyThings(held);
  yield* queryThings(held);
}

function secretThings({ enrollSecrets, teams, mayWriteSecrets }: Held): Thing[] {
  const rows = new Map<number | null, Held["enrollSecrets"][number][]>();
  for (const row of enrollSecrets) {
    const some = rows.get(row.team_id) ?? [];
    rows.set(row.team_id, some);
    some.push(row);
  }
  const owners = [{ id: null, name: null }, ...teams].filter(({ id }) => mayWriteSecrets(id));
  return owners.map(({ id, name }) => secretsThing(name, rows.get(id) ?? []));
}

/** Sorts enroll secrets by their refs, because their stored order has no meaning. */
function inOrder({ kind }: Thing, value: z.core.util.JSONType): z.core.util.JSONType {
  if (kind !== "enroll_secrets") return value;
  const { secrets } = value as { secrets: { $secret: string }[] };
  return { secrets: secrets.sort((a, b) => (a.$secret < b.$secret ? -1 : a.$secret > b.$secret ? 1 : 0)) };
}

async function hostsOf(ctx: Context, given: readonly HostName[]): Promise<ConfigurationState["hosts"]> {
  if (given.length === 0) return [];
  const found = await hostsByName(ctx, given);
  const names = await nameHosts(ctx, [...new Set([...found.values()].flatMap((ids) => [...ids]))]);
  return [...new Set(given)].flatMap((name): ConfigurationState["hosts"] => {
    const hosts = [...(found.get(name) ?? [])].map((id) => names.get(id)).filter((host) => host !== undefined);
    return hosts.length === 0 ? [{ given: name, host: null }] : hosts.map((host) => ({ given: name, host }));
  });
}
