// The current state of all configuration objects, from a single moment, with a revision of each object.
import type { z } from "zod";
import type { ConfigurationState, configurationApi } from "../../../api/edge/configuration.ts";
import { hostsByName } from "../../hosts/labels/members.ts";
import { nameHosts } from "../../inventory/labels/spec.ts";
import { inTurns, parts } from "../../platform/core/concurrency/parts.ts";
import { type Context, isPremium, within } from "../../platform/core/context.ts";
import { forbiddenFor } from "../../platform/core/errors.ts";
import { may } from "../../platform/core/security/access.ts";
import { eq, everything, oneOf } from "../../platform/store/query.ts";
import type { Kind } from "./kind.ts";
import { configurationKind, kinds } from "./kinds.ts";
import { asWriter, mayApply } from "./planner.ts";
import { type HostName, readSharedRows, type SharedRows } from "./shared-rows.ts";
import { type Refs, revisionKey, revisionOf, shown, type Thing } from "./values.ts";

type Body = z.output<(typeof configurationApi)["state"]["body"]>;

export async function configurationState(caller: Context, body: Body): Promise<ConfigurationState> {
  if (body.files === true && !mayApply(caller))
    throw forbiddenFor("this role reads no files: an export needs the role gitops or admin");
  const ctx = asWriter(caller);
  const key = await revisionKey(ctx);
  const { shared, rows, files, downloads, vitals, hosts, teamHosts } = await ctx.store.tx(
    async (store) => {
      const inside = within(ctx, store);
      const all = await readAllRows(inside);
      const files = body.files === true ? await contentsOf(inside, all.rows) : null;
      const downloads = body.files === true ? await downloadsOf(inside, all.rows) : null;
      const vitals = await store.customHostVitals.pick(["id"], { where: everything });
      const keptTeams = body.hosts_of_teams_except;
      const teamHosts =
        keptTeams === undefined ? null : await hostsOfTeams(within(caller, store), all.shared, keptTeams);
      return { ...all, files, downloads, vitals, hosts: await hostsOf(inside, body.hosts ?? []), teamHosts };
    },
    { snapshot: true },
  );
  const refs: Refs = new Map(Object.entries(body.secrets ?? {}).map(([ref, text]) => [text, ref]));
  const things: ConfigurationState["things"] = [];
  for await (const thing of inTurns(thingsOf(shared, rows))) {
    const { value, ...called } = thing;
    const masked = shown(value, refs);
    things.push({
      ...called,
      value: configurationKind(thing).inReply?.(masked) ?? masked,
      revision: revisionOf(key, thing),
    });
  }
  return {
    things,
    defaults: shown(
      Object.assign({}, ...kinds.map((kind) => kind.defaults?.())),
      refs,
    ) as ConfigurationState["defaults"],
    builtin_labels: namesOf(shared, "builtin"),
    labels: namesOf(shared, "regular"),
    hosts,
    custom_host_vitals: vitals.map(({ id }) => id),
    ...(files === null ? {} : { files }),
    ...(downloads === null ? {} : { downloads }),
    ...(teamHosts === null ? {} : { team_hosts: teamHosts }),
    gitops_exceptions: (await ctx.config.current()).gitops.exceptions,
    tier: isPremium(ctx) ? "premium" : "free",
  };
}

const namesOf = ({ labels }: SharedRows, type: "builtin" | "regular"): string[] =>
  labels.filter(({ label_type }) => label_type === type).map(({ name }) => name);

/** The rows of every kind. */
type Rows = ReadonlyMap<Kind, unknown>;

/** Call this in a transaction, so that all rows are from the same moment. */
export async function readAllRows(
  ctx: Context,
  kindsToRead: Iterable<Kind> = kinds,
): Promise<{ shared: SharedRows; rows: Rows }> {
  const shared = await readSharedRows(ctx);
  const rows = new Map<Kind, unknown>();
  for (const kind of kindsToRead) rows.set(kind, await kind.load(ctx, shared));
  return { shared, rows };
}

/** A generator, so that each object is built only when it is used. */
export function* thingsOf(shared: SharedRows, rows: Rows): Generator<Thing> {
  for (const [kind, kindRows] of rows) yield* kind.things(kindRows, shared);
}

/** In base64, by their digests. */
async function contentsOf(ctx: Context, rows: Rows): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const kind of kinds)
    for (const [sha256, content] of (await kind.contents?.(ctx, rows.get(kind))) ?? [])
      files[sha256] = Buffer.from(content).toString("base64");
  return files;
}

async function downloadsOf(ctx: Context, rows: Rows): Promise<Record<string, string>> {
  const tokens: Record<string, string> = {};
  for (const kind of kinds)
    for (const [sha256, token] of (await kind.downloads?.(ctx, rows.get(kind))) ?? []) tokens[sha256] = token;
  return tokens;
}

/** Names per team. */
const HOSTS_NAMED = 10;

/** Names of hosts of the teams that have hosts. */
async function hostsOfTeams(ctx: Context, { teams }: SharedRows, except: readonly string[]) {
  const keptTeams = new Set(except);
  const others = teams.filter(({ name }) => !keptTeams.has(name));
  const counts = new Map<unknown, number>();
  for await (const teamIds of parts(others.map(({ id }) => id)))
    for (const { value, count } of await ctx.store.hosts.groupCount("team_id", oneOf("team_id", teamIds)))
      counts.set(value, count);
  const teamHosts: NonNullable<ConfigurationState["team_hosts"]> = [];
  for (const { id, name } of others) {
    const count = counts.get(id) ?? 0;
    if (count > 0) teamHosts.push({ team: name, count, hosts: await namesOfHosts(ctx, id) });
  }
  return teamHosts;
}

async function namesOfHosts(ctx: Context, teamId: number): Promise<string[]> {
  if (!may(ctx.user, "hosts:list", teamId)) return [];
  const order = [{ column: "display_name", direction: "asc" }] as const;
  const rows = await ctx.store.hosts.list({ where: eq("team_id", teamId), order, limit: HOSTS_NAMED });
  return rows.map(({ display_name }) => display_name);
}

async function hostsOf(ctx: Context, hostNames: readonly HostName[]): Promise<ConfigurationState["hosts"]> {
  if (hostNames.length === 0) return [];
  const namedHosts = await hostsByName(ctx, hostNames);
  const names = await nameHosts(ctx, [...new Set([...namedHosts.values()].flatMap(({ ids }) => ids))]);
  return [...new Set(hostNames)].flatMap((name): ConfigurationState["hosts"] => {
    const hosts = (namedHosts.get(name)?.ids ?? []).map((id) => names.get(id)).filter((host) => host !== undefined);
    return hosts.length === 0 ? [{ given: name, host: null }] : hosts.map((host) => ({ given: name, host }));
  });
}
