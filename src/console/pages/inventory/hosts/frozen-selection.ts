// A selection of hosts as it is when its dialog opens. The server acts on exactly these hosts, or refuses.
import type { Action } from "../../../../api/access.ts";
import type { InputOf } from "../../../../api/endpoint.ts";
import type { Host } from "../../../../api/hosts/host.ts";
import { selectionHeaders, selectionOf } from "../../../../api/hosts/selection-digest.ts";
import type { BodyHostFilter, HostListQuery } from "../../../../api/inventory/host-filters.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { client, request } from "../../../api.ts";
import type { Selection } from "../../../parts/list/definition.ts";
import { may } from "../../../session.ts";

export type SelectedHost = Pick<Host, "id" | "display_name" | "team_id">;

export interface FrozenSelection {
  readonly count: number;
  /** Hosts that were selected, and on which the user may not do this. */
  readonly leftOut: number;
  /** The headers with which the server refuses if the selection has changed. */
  readonly headers: Readonly<Record<string, string>>;
  readonly target: { readonly ids: number[] } | { readonly filters: BodyHostFilter };
  /** The first hosts, to be shown. */
  readonly first: readonly SelectedHost[];
  /** After the server has refused it because the selection has changed: what it is now. */
  readonly change?: SelectionChange;
}

export interface SelectionChange {
  readonly count: number;
  /** Goes on with the selection as it is now. */
  readonly accept: () => void;
}

/** What is done with the hosts: the action that the roles allow, and its name among the filters of lists. */
export interface HostDeed {
  readonly action: Action;
  readonly may: NonNullable<HostListQuery["may"]>;
}

export const hostDeeds = {
  delete: { action: "hosts:delete", may: "delete" },
  transfer: { action: "hosts:transfer", may: "transfer" },
  script: { action: "scripts:run", may: "run_scripts" },
  refetch: { action: "hosts:refetch", may: "refetch" },
  labels: { action: "hosts:label", may: "label" },
  install: { action: "software:install", may: "install" },
  uninstall: { action: "software:install", may: "install" },
  lock: { action: "hosts:lock", may: "lock" },
  unlock: { action: "hosts:lock", may: "lock" },
  wipe: { action: "hosts:lock", may: "lock" },
} as const satisfies Record<string, HostDeed>;

const MAX_SHOWN = 10;

type ListQuery = NonNullable<InputOf<typeof hostsApi.list>["query"]>;

/** The filters of lists that bodies take too. */
const bodyFilters = ["query", "status", "label_id", "team_id", "where"];

export const freeze = (selection: Selection<SelectedHost>, deed: HostDeed): Promise<FrozenSelection> =>
  selection.kind === "rows"
    ? frozenRows(
        selection.rows.filter(({ team_id }) => may(deed.action, team_id)),
        selection.rows.length,
      )
    : frozenMatching(selection.filters, selection.count, deed);

/** Ids in one selector, whose length is limited. */
const IDS_PER_READ = 300;

/** The selection as it is now, after it has changed: hosts that were selected singly may be gone, or not the user's. */
export async function freezeAgain(
  selection: Selection<SelectedHost>,
  deed: HostDeed,
  before: FrozenSelection,
): Promise<FrozenSelection> {
  if (selection.kind === "matching") return freeze(selection, deed);
  const existing: SelectedHost[] = [];
  for (let at = 0; at < selection.rows.length; at += IDS_PER_READ) {
    const ids = selection.rows.slice(at, at + IDS_PER_READ).map(({ id }) => id);
    const query = { where: `id in (${ids.join(", ")})`, may: deed.may, fields: "display_name,team_id" } as const;
    existing.push(...(await request(() => client.call(hostsApi.list, { query }))).hosts);
  }
  return frozenRows(existing, existing.length + before.leftOut);
}

async function frozenRows(hosts: readonly SelectedHost[], selected: number): Promise<FrozenSelection> {
  const ids = hosts.map(({ id }) => id);
  const { count, digest } = await selectionOf(ids);
  return {
    count,
    leftOut: Math.max(0, selected - count),
    headers: headersOf(count, digest),
    target: { ids },
    first: hosts.slice(0, MAX_SHOWN),
  };
}

async function frozenMatching(
  filters: Readonly<Record<string, string>>,
  selected: number,
  deed: HostDeed,
): Promise<FrozenSelection> {
  const query: ListQuery = { ...filters, may: deed.may };
  const list = { ...query, fields: "display_name,team_id", order_key: "display_name" } as const;
  // Changes take fewer filters than lists do. With others, the hosts are named.
  if (Object.keys(filters).some((name) => !bodyFilters.includes(name))) {
    const { hosts } = await request(() => client.call(hostsApi.list, { query: list }));
    return frozenRows(hosts, selected);
  }
  const [{ count, digest = "" }, { hosts }] = await Promise.all([
    request(() => client.call(hostsApi.count, { query: { ...query, digest: true } })),
    request(() => client.call(hostsApi.list, { query: { ...list, per_page: MAX_SHOWN } })),
  ]);
  return {
    count,
    leftOut: Math.max(0, selected - count),
    headers: headersOf(count, digest),
    target: { filters: bodyOf(filters) },
    first: hosts,
  };
}

const headersOf = (count: number, digest: string) => ({
  [selectionHeaders.count]: String(count),
  [selectionHeaders.digest]: digest,
});

const bodyOf = (filters: Readonly<Record<string, string>>): BodyHostFilter =>
  Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [name, name.endsWith("_id") ? Number(value) : value]),
  );
