// What names labels by their ids: what they narrow, and what runs on their hosts. A label that narrows something cannot be
// deleted: without it, the object would apply to every host.
import type { LabelUse } from "../../../api/hosts/label-effects.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import { may, mayListGlobal } from "../../platform/core/security/access.ts";
import { oneOf, type Predicate } from "../../platform/store/query.ts";
import type { LabelRow } from "./wire.ts";

export interface UseOfLabel extends Omit<LabelUse, "team_name"> {
  readonly labelId: number;
  /** Whether the caller may read the object. */
  readonly isReadable: boolean;
}

/** Uses that are read of each kind; `SHOWN_USES` of them are listed per label in errors. */
const MAX_USES = 10_000;
const SHOWN_USES = 6;

const nouns = { policy: "policy", query: "query", package: "package", store_app: "app" } as const;
type NarrowedKind = keyof typeof nouns;

type Reader = Pick<Context, "store" | "user">;

/** 422 that lists what the label narrows. */
export async function checkUnused(ctx: Context, label: LabelRow): Promise<void> {
  const reason = (await checkAllUnused(ctx, [label])).get(label.id);
  if (reason !== undefined) throw invalid("base", reason);
}

/** The reasons why labels cannot be deleted, by label id. They name only objects that the caller may read. */
export async function checkAllUnused(ctx: Reader, labels: readonly LabelRow[]): Promise<Map<number, string>> {
  const names = new Map(labels.map(({ id, name }) => [id, name]));
  const uses = await narrowedBy(ctx, oneOf("label_id", [...names.keys()]));
  return new Map(
    [...names]
      .map(([id, name]) => [id, name, uses.filter(({ labelId }) => labelId === id)] as const)
      .filter(([, , usesOfLabel]) => usesOfLabel.length > 0)
      .map(([id, name, usesOfLabel]) => [
        id,
        `the label ${JSON.stringify(name)} is in use (foreign key) by ${listed(usesOfLabel)}`,
      ]),
  );
}

function listed(uses: readonly UseOfLabel[]): string {
  const readable = uses
    .filter(({ isReadable }) => isReadable)
    .map(({ kind, name }) => `${nouns[kind as NarrowedKind]} ${JSON.stringify(name)}`);
  const others = uses.length - readable.length;
  const rest = others === 0 ? [] : [`${others} ${others === 1 ? "object" : "objects"} that you may not read`];
  return [...readable.slice(0, SHOWN_USES), ...rest].join(", ");
}

/** Everything that names the label by its id. */
export async function usesById(ctx: Reader, labelId: number): Promise<UseOfLabel[]> {
  const where = oneOf("label_id", [labelId]);
  return [...(await narrowedBy(ctx, where)), ...(await usesByPacks(ctx, where)), ...(await usesByProfiles(ctx, where))];
}

/** What the labels narrow, so that they cannot be deleted. */
const narrowedBy = async (reader: Reader, where: Predicate): Promise<UseOfLabel[]> => [
  ...(await usesByPolicies(reader, where)),
  ...(await usesByQueries(reader, where)),
  ...(await usesByPackages(reader, where)),
  ...(await usesByApps(reader, where)),
];

async function usesByPolicies({ store, user }: Reader, where: Predicate): Promise<UseOfLabel[]> {
  const links = await store.policyLabels.list({ where, limit: MAX_USES });
  const ids = links.map(({ policy_id }) => policy_id);
  const rows = byId(await store.policies.pick(["id", "name", "scope", "team_id"], { where: oneOf("id", ids) }));
  return links.flatMap(({ label_id, policy_id, excludes, requires_all }): UseOfLabel[] => {
    const policy = rows.get(policy_id);
    if (!policy) return [];
    const { id, name, scope, team_id } = policy;
    const isGlobal = scope === "global";
    return [
      {
        labelId: label_id,
        kind: "policy",
        id,
        name,
        team_id: isGlobal ? null : (team_id ?? 0),
        as: excludes ? "exclude_any" : requires_all ? "include_all" : "include_any",
        on_delete: "refused",
        isReadable: isGlobal ? mayListGlobal(user, "policies:list") : may(user, "policies:list", team_id),
      },
    ];
  });
}

async function usesByQueries({ store, user }: Reader, where: Predicate): Promise<UseOfLabel[]> {
  const links = await store.queryLabels.list({ where, limit: MAX_USES });
  const ids = links.map(({ query_id }) => query_id);
  const rows = byId(await store.queries.pick(["id", "name", "team_id"], { where: oneOf("id", ids) }));
  return links.flatMap(({ label_id, query_id, requires_all }): UseOfLabel[] => {
    const query = rows.get(query_id);
    if (!query) return [];
    const { id, name, team_id } = query;
    return [
      {
        labelId: label_id,
        kind: "query",
        id,
        name,
        team_id,
        as: requires_all ? "include_all" : "include_any",
        on_delete: "refused",
        isReadable: team_id === null ? mayListGlobal(user, "queries:list") : may(user, "queries:list", team_id),
      },
    ];
  });
}

async function usesByPackages(reader: Reader, where: Predicate): Promise<UseOfLabel[]> {
  const { store } = reader;
  const links = await store.installerLabels.list({ where, limit: MAX_USES });
  const ids = links.map(({ installer_id }) => installer_id);
  const offers = await store.softwareInstallers.pick(["id", "title_id", "team_id"], { where: oneOf("id", ids) });
  const places = links.map((link) => ({ ...link, offer_id: link.installer_id }));
  return usesByOffers(reader, "package", places, offers);
}

async function usesByApps(reader: Reader, where: Predicate): Promise<UseOfLabel[]> {
  const { store } = reader;
  const links = await store.storeAppLabels.list({ where, limit: MAX_USES });
  const ids = links.map(({ store_app_id }) => store_app_id);
  const offers = await store.storeApps.pick(["id", "title_id", "team_id"], { where: oneOf("id", ids) });
  const places = links.map((link) => ({ ...link, offer_id: link.store_app_id }));
  return usesByOffers(reader, "store_app", places, offers);
}

interface Offer {
  readonly id: number;
  readonly title_id: number;
  readonly team_id: number | null;
}

interface OfferLabel {
  readonly label_id: number | null;
  readonly offer_id: number;
  readonly rule: "include_all" | "include_any" | "exclude_any";
}

async function usesByOffers(
  { store, user }: Reader,
  kind: "package" | "store_app",
  links: readonly OfferLabel[],
  offers: readonly Offer[],
): Promise<UseOfLabel[]> {
  const titleIds = offers.map(({ title_id }) => title_id);
  const titles = byId(await store.softwareTitles.pick(["id", "name"], { where: oneOf("id", titleIds) }));
  const offersById = byId(offers);
  return links.flatMap(({ label_id, offer_id, rule }): UseOfLabel[] => {
    const offer = offersById.get(offer_id);
    if (!offer || label_id === null) return [];
    const { title_id, team_id } = offer;
    return [
      {
        labelId: label_id,
        kind,
        id: title_id,
        name: titles.get(title_id)?.name ?? "",
        team_id: team_id ?? 0,
        as: rule,
        on_delete: "refused",
        isReadable: may(user, "packages:read", team_id),
      },
    ];
  });
}

async function usesByPacks({ store, user }: Reader, where: Predicate): Promise<UseOfLabel[]> {
  const links = await store.packTargets.pick(["label_id", "pack_id"], { where, limit: MAX_USES });
  const ids = links.map(({ pack_id }) => pack_id);
  const rows = byId(await store.packs.pick(["id", "name"], { where: oneOf("id", ids) }));
  const isReadable = may(user, "packs:write", null);
  return links.flatMap(({ label_id, pack_id }): UseOfLabel[] => {
    const pack = rows.get(pack_id);
    if (!pack || label_id === null) return [];
    const { id, name } = pack;
    return [
      { labelId: label_id, kind: "pack", id, name, team_id: null, as: "target", on_delete: "untargeted", isReadable },
    ];
  });
}

async function usesByProfiles({ store, user }: Reader, where: Predicate): Promise<UseOfLabel[]> {
  const links = await store.profileLabels.pick(["label_id", "profile_id", "rule"], { where, limit: MAX_USES });
  const ids = links.map(({ profile_id }) => profile_id);
  const profiles = await store.configurationProfiles.pick(["id", "uuid", "name", "team_id"], {
    where: oneOf("id", ids),
  });
  const rows = byId(profiles);
  return links.flatMap(({ label_id, profile_id, rule }): UseOfLabel[] => {
    const profile = rows.get(profile_id);
    if (!profile || label_id === null) return [];
    const { uuid, name, team_id } = profile;
    return [
      {
        labelId: label_id,
        kind: "profile",
        id: uuid,
        name,
        team_id: team_id ?? 0,
        as: rule,
        on_delete: "stopped",
        isReadable: may(user, "profiles:read", team_id),
      },
    ];
  });
}
