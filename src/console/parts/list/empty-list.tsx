import type { ReactElement } from "react";
import type { AnyEndpoint, InputOf } from "../../../api/endpoint.ts";
import { useRead } from "../../api.ts";
import type { UrlChange, useUrl } from "../../url.ts";
import { counted } from "../counted.ts";
import type { AnyListDefinition, Filter } from "./definition.ts";
import { useFilterText, withoutFilter } from "./filters.tsx";
import type { ListState } from "./list-state.ts";

interface EmptyListProps {
  readonly definition: AnyListDefinition;
  readonly state: ListState;
  readonly onChange: ReturnType<typeof useUrl>["set"];
}

/** What the list is for, if there is nothing at all; else which filters exclude everything. */
export function EmptyList(props: EmptyListProps): ReactElement {
  const { definition, state, onChange } = props;
  if (!state.isFiltered) return <div className="empty">{definition.empty}</div>;
  const { filters = [] } = definition;
  const active = filters.filter(({ name }) => state.filters[name] !== undefined);
  const cleared = Object.fromEntries(
    ["query", "where", "page", ...Object.keys(state.filters)].map((name) => [name, null]),
  );
  return (
    <div className="empty">
      <p>Nothing matches these filters.</p>
      <ul className="plain-list">
        {state.search !== "" && <Without {...props} text={`“${state.search}”`} change={{ query: null, page: null }} />}
        {state.where !== "" && <Without {...props} text="the selector" change={{ where: null, page: null }} />}
        {active.map((filter) => (
          <WithoutFilter key={filter.name} {...props} filter={filter} value={state.filters[filter.name] ?? ""} />
        ))}
      </ul>
      <button type="button" className="plain" onClick={() => onChange(cleared)}>
        Clear filters
      </button>
    </div>
  );
}

function WithoutFilter({
  filter,
  value,
  ...props
}: EmptyListProps & { readonly filter: Filter; readonly value: string }) {
  const text = useFilterText(filter, value);
  return <Without {...props} text={`${filter.label}: ${text}`} change={withoutFilter(filter)} />;
}

/** How many rows there would be without one of the filters, as the button that removes it. */
function Without({ definition, state, onChange, text, change }: EmptyListProps & { text: string; change: UrlChange }) {
  const limits = Object.entries(state.limits).filter(([name]) => change[name] !== null);
  const count = useCountOf(definition, Object.fromEntries(limits));
  const { thing, things = `${thing}s` } = definition;
  return (
    <li>
      <button type="button" className="plain small" disabled={count === null} onClick={() => onChange(change)}>
        Without {text}:{" "}
        {count === null ? "…" : `${counted(count.rows, thing, things)}${count.isMore ? " or more" : ""}`}
      </button>
    </li>
  );
}

const MAX_ROWS = 50;

/** The number of rows within these limits; without an endpoint that counts them, as far as one page tells. */
function useCountOf(definition: AnyListDefinition, limits: Readonly<Record<string, string>>) {
  const { count: endpoint, countOf, countParams = {}, params = {}, isPaged = true, rowsOf } = definition;
  const query = { ...definition.query, ...limits };
  const page = isPaged ? { page: 0, per_page: MAX_ROWS } : {};
  const input = endpoint === undefined ? { params, query: { ...query, ...page } } : { params: countParams, query };
  const { data } = useRead<AnyEndpoint>(endpoint ?? definition.endpoint, input as InputOf<AnyEndpoint>);
  if (data === undefined) return null;
  if (endpoint !== undefined) return { rows: (data as { count: number }).count, isMore: false };
  const all = countOf?.(data);
  const rows = rowsOf(data).length;
  return { rows: all ?? rows, isMore: all === undefined && isPaged && rows >= MAX_ROWS };
}
