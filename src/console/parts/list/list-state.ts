// The state of a list: what the URL says, as parameters of its endpoint.
import { useMemo } from "react";
import { pageSizes } from "../../../api/accounts/user-settings.ts";
import { useSettings } from "../../settings.ts";
import { useTeamId, useUrl } from "../../url.ts";
import type { AnyListDefinition } from "./definition.ts";

const DEFAULT_PAGE_SIZE = 50;

export interface Order {
  readonly key: string;
  readonly direction: "asc" | "desc";
}

export interface ListState {
  readonly search: string;
  readonly where: string;
  readonly order: Order | null;
  readonly page: number;
  readonly pageSize: number;
  /** The filters that are set, by the name of their parameter. */
  readonly filters: Readonly<Record<string, string>>;
  /** What limits the rows: parameters that the list and the endpoint that counts it share. */
  readonly limits: Readonly<Record<string, string>>;
  /** All parameters of the request. */
  readonly query: Readonly<Record<string, string | number | boolean>>;
  readonly isFiltered: boolean;
}

export function useListState(definition: AnyListDefinition): ListState {
  const { all } = useUrl();
  const teamId = useTeamId();
  const { rows = DEFAULT_PAGE_SIZE } = useSettings();
  const text = all.toString();
  return useMemo(
    () => stateOf(definition, new URLSearchParams(text), { teamId, rows }),
    [definition, text, teamId, rows],
  );
}

interface Usual {
  readonly teamId: number | null;
  readonly rows: number;
}

function stateOf(definition: AnyListDefinition, url: URLSearchParams, { teamId, rows }: Usual): ListState {
  const { filters = [], isPaged = true, hasTeams = true, hasSearch = true, defaultOrder = null } = definition;
  const names = filters.flatMap(({ name, needs }) => [name, ...(needs === undefined ? [] : [needs.name])]);
  const set = Object.fromEntries(names.flatMap((name) => (url.get(name) ? [[name, url.get(name)!]] : [])));
  const search = hasSearch ? (url.get("query") ?? "") : "";
  const where = definition.endpoint.path === "/hosts" ? (url.get("where") ?? "") : "";
  const limits = {
    ...set,
    ...(search === "" ? {} : { query: search }),
    ...(where === "" ? {} : { where }),
    ...(hasTeams && teamId !== null ? { team_id: String(teamId) } : {}),
  };
  const order = orderIn(definition, url) ?? defaultOrder;
  const page = whole(url.get("page"), 0);
  const pageSize = pageSizes.find((size) => size === whole(url.get("per_page"), 0)) ?? rows;
  return {
    search,
    where,
    order,
    page,
    pageSize,
    filters: set,
    limits,
    query: {
      ...definition.query,
      ...limits,
      ...(order === null ? {} : { order_key: order.key, order_direction: order.direction }),
      ...(isPaged ? { page, per_page: pageSize } : {}),
    },
    isFiltered: search !== "" || where !== "" || Object.keys(set).length > 0,
  };
}

/** Only orders that a column offers, because the URL may be of another version. */
function orderIn({ columns }: AnyListDefinition, url: URLSearchParams): Order | null {
  const key = url.get("order_key");
  if (!columns.some(({ order }) => order === key && key !== null)) return null;
  return { key: key!, direction: url.get("order_direction") === "desc" ? "desc" : "asc" };
}

const whole = (text: string | null, fallback: number): number =>
  text !== null && /^\d{1,9}$/.test(text) ? Number(text) : fallback;
