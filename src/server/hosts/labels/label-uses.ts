// What labels narrow. A label in use cannot be deleted: without it, the object would apply to every host.
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { byId } from "../../platform/core/maps.ts";
import { may, mayListGlobal } from "../../platform/core/security/access.ts";
import { oneOf, type Predicate } from "../../platform/store/query.ts";
import type { LabelRow } from "./wire.ts";

interface LabelUse {
  readonly labelId: number;
  /** The name that users know: `policy "FileVault"`. */
  readonly object: string;
  /** Whether the caller may read the object. */
  readonly isReadable: boolean;
}

/** Uses that are read in total; `SHOWN_USES` of them are listed per label. */
const MAX_USES = 1000;
const SHOWN_USES = 6;

/** 422 that lists what the label narrows. */
export async function checkUnused(ctx: Context, label: LabelRow): Promise<void> {
  const reason = (await checkAllUnused(ctx, [label])).get(label.id);
  if (reason !== undefined) throw invalid("base", reason);
}

/** The reasons why labels cannot be deleted, by label id. They name only objects that the caller may read. */
export async function checkAllUnused(
  ctx: Pick<Context, "store" | "user">,
  labels: readonly LabelRow[],
): Promise<Map<number, string>> {
  const names = new Map(labels.map(({ id, name }) => [id, name]));
  const where = oneOf("label_id", [...names.keys()]);
  const uses = [
    ...(await usesByPolicies(ctx, where)),
    ...(await usesByQueries(ctx, where)),
    ...(await usesByPackages(ctx, where)),
    ...(await usesByApps(ctx, where)),
  ];
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

function listed(uses: readonly LabelUse[]): string {
  const readable = uses.filter(({ isReadable }) => isReadable).map(({ object }) => object);
  const others = uses.length - readable.length;
  const rest = others === 0 ? [] : [`${others} ${others === 1 ? "object" : "objects"} that you may not read`];
  return [...readable.slice(0, SHOWN_USES), ...rest].join(", ");
}

type Reader = Pick<Context, "store" | "user">;

async function usesByPolicies({ store, user }: Reader, where: Predicate): Promise<LabelUse[]> {
  const links = await store.policyLabels.pick(["label_id", "policy_id"], { where, limit: MAX_USES });
  const ids = links.map(({ policy_id }) => policy_id);
  const rows = byId(await store.policies.pick(["id", "name", "scope", "team_id"], { where: oneOf("id", ids) }));
  return links.flatMap(({ label_id, policy_id }) => {
    const policy = rows.get(policy_id);
    if (!policy) return [];
    const { name, scope, team_id } = policy;
    const isReadable = scope === "global" ? mayListGlobal(user, "policies:list") : may(user, "policies:list", team_id);
    return [{ labelId: label_id, object: `policy ${JSON.stringify(name)}`, isReadable }];
  });
}

async function usesByQueries({ store, user }: Reader, where: Predicate): Promise<LabelUse[]> {
  const links = await store.queryLabels.pick(["label_id", "query_id"], { where, limit: MAX_USES });
  const ids = links.map(({ query_id }) => query_id);
  const rows = byId(await store.queries.pick(["id", "name", "team_id"], { where: oneOf("id", ids) }));
  return links.flatMap(({ label_id, query_id }) => {
    const query = rows.get(query_id);
    if (!query) return [];
    const { name, team_id } = query;
    const isReadable = team_id === null ? mayListGlobal(user, "queries:list") : may(user, "queries:list", team_id);
    return [{ labelId: label_id, object: `query ${JSON.stringify(name)}`, isReadable }];
  });
}

async function usesByPackages(reader: Reader, where: Predicate): Promise<LabelUse[]> {
  const { store } = reader;
  const links = await store.installerLabels.pick(["label_id", "installer_id"], { where, limit: MAX_USES });
  const ids = links.map(({ installer_id }) => installer_id);
  const offers = await store.softwareInstallers.pick(["id", "title_id", "team_id"], { where: oneOf("id", ids) });
  const places = links.map(({ label_id, installer_id }) => ({ label_id, offer_id: installer_id }));
  return usesByOffers(reader, "package", places, offers);
}

async function usesByApps(reader: Reader, where: Predicate): Promise<LabelUse[]> {
  const { store } = reader;
  const links = await store.storeAppLabels.pick(["label_id", "store_app_id"], { where, limit: MAX_USES });
  const ids = links.map(({ store_app_id }) => store_app_id);
  const offers = await store.storeApps.pick(["id", "title_id", "team_id"], { where: oneOf("id", ids) });
  const places = links.map(({ label_id, store_app_id }) => ({ label_id, offer_id: store_app_id }));
  return usesByOffers(reader, "app", places, offers);
}

interface Offer {
  readonly id: number;
  readonly title_id: number;
  readonly team_id: number | null;
}

async function usesByOffers(
  { store, user }: Reader,
  noun: string,
  links: readonly { readonly label_id: number | null; readonly offer_id: number }[],
  offers: readonly Offer[],
): Promise<LabelUse[]> {
  const titleIds = offers.map(({ title_id }) => title_id);
  const titles = byId(await store.softwareTitles.pick(["id", "name"], { where: oneOf("id", titleIds) }));
  const offersById = byId(offers);
  return links.flatMap(({ label_id, offer_id }) => {
    const offer = offersById.get(offer_id);
    if (!offer || label_id === null) return [];
    const object = `${noun} ${JSON.stringify(titles.get(offer.title_id)?.name)}`;
    return [{ labelId: label_id, object, isReadable: may(user, "packages:read", offer.team_id) }];
  });
}
