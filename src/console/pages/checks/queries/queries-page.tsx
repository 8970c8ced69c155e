import { lazy, type ReactElement, Suspense, useMemo, useState } from "react";
import { type Query, queriesApi } from "../../../../api/checks/queries.ts";
import { reportsApi } from "../../../../api/edge/reports.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { formatted } from "../../../parts/counted.ts";
import { duration } from "../../../parts/duration.ts";
import { type Column, type ListDefinition, onRows } from "../../../parts/list/definition.ts";
import { ListPage } from "../../../parts/list/list-page.tsx";
import { Time } from "../../../parts/time.tsx";
import { isPremium, may, maySomewhere } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";
import { DeleteQueriesDialog } from "./delete-queries-dialog.tsx";

const QueryDialog = lazy(() => import("./query-dialog.tsx"));

type QueryList = ListDefinition<typeof queriesApi.list, Query>;

/** The saved queries of the team, with those that it inherits, or the global ones. */
export default function QueriesPage(): ReactElement {
  const teamId = useTeamId() || null;
  const [isCreating, setCreating] = useState(false);
  const [deleting, setDeleting] = useState<readonly Query[] | null>(null);
  const mayWrite = may("queries:write", teamId);
  const definition = useMemo<QueryList>(
    () => ({
      ...queries,
      ...(teamId !== null && isPremium() ? { query: { merge_inherited: true } } : {}),
      actions: mayWrite
        ? [
            {
              name: "Delete",
              isDangerous: true,
              onSelect: onRows(setDeleting),
            },
          ]
        : [],
    }),
    [teamId, mayWrite],
  );
  const buttons = (
    <>
      {maySomewhere("queries:run") && (
        <PageLink className="button plain" href="/queries/live/new">
          Live query
        </PageLink>
      )}
      {mayWrite && (
        <button type="button" onClick={() => setCreating(true)}>
          Create query
        </button>
      )}
    </>
  );
  return (
    <>
      <ListPage definition={definition} actions={buttons} />
      <Suspense>
        {isCreating && <QueryDialog query={null} teamId={teamId} onClose={() => setCreating(false)} />}
      </Suspense>
      {deleting !== null && <DeleteQueriesDialog queries={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}

/** Milliseconds of the slower runs; null: it has not run yet. */
const cost = ({ stats }: Query) => stats.user_time_p95 ?? stats.system_time_p95;

const columns: readonly Column<Query>[] = [
  { id: "name", name: "Name", order: "name", cell: ({ name }) => name },
  {
    id: "interval",
    name: "Runs every",
    order: "interval",
    isNumber: true,
    cell: ({ interval }) => (interval === 0 ? "" : duration(interval)),
  },
  { id: "platform", name: "Platforms", cell: ({ platform }) => platform || "all" },
  { id: "logging", name: "Logging", isOptional: true, cell: ({ logging }) => logging.replaceAll("_", " ") },
  {
    id: "automations",
    name: "Log destination",
    cell: ({ automations_enabled }) => automations_enabled && <Badge tone="good">on</Badge>,
  },
  {
    id: "report",
    name: "Report",
    isOptional: true,
    cell: ({ discard_data }) => (discard_data ? "not stored" : "stored"),
  },
  { id: "observers", name: "Observers", cell: ({ observer_can_run }) => observer_can_run && "may run it" },
  {
    id: "cost",
    name: "Cost (p95)",
    isNumber: true,
    cell: (query) => {
      const milliseconds = cost(query);
      return milliseconds === null ? "" : `${formatted(Math.round(milliseconds))} ms`;
    },
  },
  {
    id: "errors",
    name: "Errors",
    isNumber: true,
    cell: ({ error_host_count, error_message }) =>
      error_host_count === 0 ? "" : <span title={error_message ?? undefined}>{formatted(error_host_count)}</span>,
  },
  { id: "scope", name: "Scope", cell: ({ team_id }) => (team_id === null ? "All teams" : "Team") },
  { id: "author", name: "Author", isOptional: true, cell: ({ author_name }) => author_name },
  { id: "updated", name: "Changed", order: "updated_at", cell: ({ updated_at }) => <Time value={updated_at} /> },
];

const queries: QueryList = {
  name: "Queries",
  view: "queries",
  thing: "query",
  things: "queries",
  endpoint: queriesApi.list,
  rowsOf: (reply) => reply.queries,
  countOf: ({ count }) => count,
  defaultOrder: { key: "name", direction: "asc" },
  keyOf: ({ id }) => id,
  nameOf: ({ name }) => name,
  hrefOf: ({ id }) => `/queries/${id}`,
  columns,
  filters: [
    {
      name: "platform",
      label: "Scheduled on",
      options: ["macos", "windows", "linux"].map((value) => ({ value, label: value })),
    },
  ],
  csv: { endpoint: reportsApi.queries },
  command: "queries list",
  flags: { team_id: "team" },
  empty: (
    <p>
      A query asks hosts for data, once or on a schedule. None is saved yet. On the command line:{" "}
      <code>svc queries create</code>.
    </p>
  ),
};
