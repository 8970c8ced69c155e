import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactElement, type ReactNode, useState } from "react";
import type { AnyEndpoint, InputOf, ReplyOf } from "../../../api/endpoint.ts";
import { fullPath } from "../../../api/paths.ts";
import { queryString } from "../../../client/requests.ts";
import { client, request, useRead } from "../../api.ts";
import { Page } from "../../frame/page.tsx";
import { useShortcut } from "../../frame/shortcuts.ts";
import { settings } from "../../settings.ts";
import { useUrl } from "../../url.ts";
import { useAction } from "../action.ts";
import { AsCommand, commandLine } from "../as-command.tsx";
import { counted } from "../counted.ts";
import { ErrorMessage } from "../error-message.tsx";
import { useWaiting, WaitingNote } from "../loading/waiting.tsx";
import { MenuButton } from "../menu.tsx";
import { saveFile } from "../save-file.ts";
import { SelectorBar } from "../selector-bar.tsx";
import { exactTime } from "../time.tsx";
import { ColumnsDialog, useColumns } from "./columns.tsx";
import type { AnyListDefinition, ListDefinition } from "./definition.ts";
import { EmptyList } from "./empty-list.tsx";
import { ActiveFilters, AddFilter } from "./filters.tsx";
import { type ListState, useListState } from "./list-state.ts";
import { Pager } from "./pager.tsx";
import { SearchBox } from "./search-box.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { Skeleton } from "./skeleton.tsx";
import { SplitView, usePanel } from "./split-view.tsx";
import { Table } from "./table.tsx";
import { useNamedView } from "./use-named-view.ts";
import { useSelection } from "./use-selection.ts";
import { ViewsButton } from "./views-button.tsx";

interface ListPageProps<E extends AnyEndpoint, Row> {
  /** The same object as long as the list is the same: declare it outside of components, or memoize it. */
  readonly definition: ListDefinition<E, Row>;
  /** The main buttons beside the heading. */
  readonly actions?: ReactNode;
  /** What stands between the heading and the list: tabs, facets. */
  readonly children?: ReactNode;
}

/** A page that is a list: search, filters, order, columns, pages, selection, CSV. */
export function ListPage<E extends AnyEndpoint, Row>({
  definition,
  actions,
  children,
}: ListPageProps<E, Row>): ReactElement {
  return (
    <Page title={definition.name} actions={actions}>
      {children}
      <List definition={definition} />
    </Page>
  );
}

/** The list alone, for pages and tabs with more than a list. What is selected in one list is nothing to another. */
export function List<E extends AnyEndpoint, Row>(props: { readonly definition: ListDefinition<E, Row> }): ReactElement {
  const { endpoint, name, view, columns } = props.definition;
  const isOpeningView = useNamedView(view);
  if (isOpeningView)
    return (
      <>
        <p role="status" className="list-status">
          Opening the view
        </p>
        <Skeleton columns={columns.length} />
      </>
    );
  return <ListContent key={`${endpoint.path} ${name}`} {...props} />;
}

function ListContent<E extends AnyEndpoint, Row>({
  definition,
}: {
  readonly definition: ListDefinition<E, Row>;
}): ReactElement {
  const { name, endpoint, columns, filters = [], keyOf, nameOf, isPaged = true, hasSearch = true } = definition;
  const state = useListState(definition);
  const url = useUrl();
  const hasDetails = definition.details !== undefined;
  const panelKey = usePanel();
  const panel = hasDetails ? panelKey : null;
  const [shown, chooseColumns] = useColumns(definition, columns);
  const fields = [...new Set(shown.flatMap((column) => column.fields ?? []))];
  const input = {
    ...(definition.params === undefined ? {} : { params: definition.params }),
    query: { ...state.query, ...(fields.length === 0 ? {} : { fields: fields.join(",") }) },
  } as InputOf<E>;
  const reply = useRead(endpoint, input, { isLive: true });
  const rows = reply.data === undefined ? [] : definition.rowsOf(reply.data);
  const count = useCount(definition, state, reply);
  const selected = useSelection(keyOf, rows);
  const note = reply.data === undefined ? null : (definition.note?.(reply.data) ?? null);
  const hasSelection = (definition.actions ?? []).length > 0;
  const hasNext = hasNextPage(reply.data, rows.length, state);
  const waiting = useWaiting(reply);
  return (
    <>
      <search aria-label={name} className="toolbar">
        {hasSearch && (
          <SearchBox value={state.search} onChange={(query) => url.set({ query, page: null }, { replace: true })} />
        )}
        {endpoint.path === "/hosts" && (
          <SelectorBar value={state.where} onChange={(where) => url.set({ where, page: null })} />
        )}
        {filters.length > 0 && <AddFilter filters={filters} onChange={url.set} />}
        <ToolbarButtons definition={definition} state={state} shown={shown} onColumns={chooseColumns} />
      </search>
      <ActiveFilters filters={filters} state={state} onChange={url.set} />
      <p role="status" className="list-status">
        {statusText(definition, reply, rows.length, count, state.isFiltered)}
        {reply.isError && reply.data !== undefined && ` (not up to date: read at ${exactTime(reply.dataUpdatedAt)})`}
      </p>
      <WaitingNote from={reply} state={waiting} what={thingsOf(definition)} />
      {reply.isError && reply.data === undefined && (
        <ErrorMessage error={reply.error} onRetry={() => void reply.refetch()} />
      )}
      {hasSelection && (
        <SelectionBar definition={definition} selected={selected} pageRows={rows} count={count} limits={state.limits} />
      )}
      {note !== null && <p className="message note">{note}</p>}
      {reply.isFetching && reply.isPending && <Skeleton columns={shown.length} />}
      {reply.data !== undefined && rows.length === 0 && (
        <EmptyList definition={definition} state={state} onChange={url.set} />
      )}
      {rows.length > 0 && (
        <SplitView keys={rows.map((row) => String(keyOf(row)))} details={definition.details ?? noDetails}>
          <Table
            name={name}
            rows={rows}
            columns={shown}
            keyOf={keyOf}
            nameOf={nameOf}
            hrefOf={definition.hrefOf}
            order={state.order}
            onOrder={({ key, direction }) => url.set({ order_key: key, order_direction: direction, page: null })}
            isOutdated={reply.isPlaceholderData || reply.isError}
            {...(hasSelection
              ? {
                  selection: {
                    has: selected.has,
                    toggle: (row: Row, isRange: boolean) => selected.toggle(row, { extends: isRange, page: rows }),
                    togglePage: (on: boolean) => selected.togglePage(rows, on),
                  },
                }
              : {})}
            {...(definition.details === undefined
              ? {}
              : { panel, onOpen: (row: Row) => url.set({ panel: keyOf(row) }, { replace: panel !== null }) })}
          />
        </SplitView>
      )}
      {isPaged && rows.length > 0 && (
        <Pager
          page={state.page}
          pageSize={state.pageSize}
          hasNext={hasNext}
          onPage={(page) => url.set({ page: page === 0 ? null : page })}
          onPageSize={(size) => {
            settings.change({ rows: size });
            url.set({ per_page: size, page: null });
          }}
        />
      )}
      <PageKeys
        page={state.page}
        hasNext={isPaged && hasNext}
        isOn={panel === null}
        onPage={(page) => url.set({ page: page === 0 ? null : page })}
      />
    </>
  );
}

interface PageKeysProps {
  readonly page: number;
  readonly hasNext: boolean;
  /** The same keys go from row to row while the details of one are open. */
  readonly isOn: boolean;
  readonly onPage: (page: number) => void;
}

function PageKeys({ page, hasNext, isOn, onPage }: PageKeysProps): null {
  useShortcut("[", "Previous page", () => onPage(page - 1), isOn && page > 0);
  useShortcut("]", "Next page", () => onPage(page + 1), isOn && hasNext);
  return null;
}

const noDetails = () => null;

/** Replies without `meta` may be followed by another page if they are full. */
function hasNextPage(reply: unknown, rows: number, { pageSize }: ListState): boolean {
  const { meta } = (reply ?? {}) as { meta?: { has_next_results?: boolean } };
  return meta?.has_next_results ?? rows >= pageSize;
}

/** The number of all rows that match, as far as it can be known. */
function useCount<E extends AnyEndpoint, Row>(
  definition: ListDefinition<E, Row>,
  state: ListState,
  { data }: UseQueryResult<ReplyOf<E>>,
): number | undefined {
  const { count: endpoint, countOf, countParams = {} } = definition;
  const input = { params: countParams, query: { ...definition.query, ...state.limits } } as InputOf<AnyEndpoint>;
  const reply = useRead(endpoint ?? definition.endpoint, input, { enabled: endpoint !== undefined, isLive: true });
  if (endpoint !== undefined) return (reply.data as { count: number } | undefined)?.count;
  return data === undefined ? undefined : countOf?.(data);
}

const thingsOf = ({ thing, things = `${thing}s` }: Pick<AnyListDefinition, "thing" | "things">): string => things;

function statusText<E extends AnyEndpoint, Row>(
  { thing, things = `${thing}s` }: ListDefinition<E, Row>,
  reply: UseQueryResult<ReplyOf<E>>,
  rows: number,
  count: number | undefined,
  isFiltered: boolean,
): string {
  if (reply.isPending) return reply.isFetching ? `Loading ${things}` : `The ${things} were not read`;
  if (reply.data === undefined) return `The ${things} could not be read`;
  if (rows === 0 && isFiltered) return `No ${things} match`;
  return count === undefined ? counted(rows, thing, things) : counted(count, thing, things);
}

interface ToolbarButtonsProps<E extends AnyEndpoint, Row> {
  readonly definition: ListDefinition<E, Row>;
  readonly state: ListState;
  readonly shown: readonly ListDefinition<E, Row>["columns"][number][];
  readonly onColumns: (ids: readonly string[]) => void;
}

function ToolbarButtons<E extends AnyEndpoint, Row>(props: ToolbarButtonsProps<E, Row>): ReactElement {
  const { definition, state, shown, onColumns } = props;
  const [isChoosing, setChoosing] = useState(false);
  const { csv, command, flags, more = [], endpoint } = definition;
  const parameters = { ...definition.query, ...state.limits, ...ordered(state) };
  const download = useAction(async ({ endpoint: report, query: extra }: NonNullable<typeof csv>) => {
    const query = { ...definition.query, ...extra, ...state.limits, ...ordered(state) };
    const input = { params: definition.params ?? {}, query } as InputOf<AnyEndpoint>;
    saveFile(await request(() => client.download(report, input)));
  });
  const path = fullPath(endpoint).replace(/:([a-z_]+)/g, (_, name: string) =>
    String(definition.params?.[name] ?? name),
  );
  return (
    <>
      <button type="button" className="plain" aria-haspopup="dialog" onClick={() => setChoosing(true)}>
        Columns
      </button>
      {definition.view !== undefined && <ViewsButton page={definition.view} columns={shown.map(({ id }) => id)} />}
      {csv !== undefined && (
        <button type="button" className="plain" onClick={() => download.run(csv)}>
          Export CSV
        </button>
      )}
      <AsCommand
        command={commandLine(command, parameters, flags)}
        method={endpoint.method}
        path={path + queryString(parameters)}
      />
      {more.length > 0 && <MenuButton label="More" items={more} />}
      {isChoosing && (
        <ColumnsDialog
          columns={definition.columns}
          shown={shown}
          onChange={onColumns}
          onClose={() => setChoosing(false)}
        />
      )}
    </>
  );
}

const ordered = ({ order }: ListState): Record<string, string> =>
  order === null ? {} : { order_key: order.key, order_direction: order.direction };
