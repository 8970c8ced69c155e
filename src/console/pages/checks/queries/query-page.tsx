import { lazy, type ReactElement, Suspense, useState } from "react";
import { useParams } from "wouter";
import { type Query, queriesApi } from "../../../../api/checks/queries.ts";
import { shellArgument } from "../../../../text/shell.ts";
import { useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { useShortcut } from "../../../frame/shortcuts.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Card } from "../../../parts/card.tsx";
import { duration } from "../../../parts/duration.ts";
import { Facts } from "../../../parts/facts.tsx";
import { scopeText } from "../../../parts/label-scope/scope.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { consolePaths } from "../../../routes.ts";
import { may } from "../../../session.ts";
import { useGo } from "../../../url.ts";
import { DeleteQueriesDialog } from "./delete-queries-dialog.tsx";
import { QueryReport } from "./query-report.tsx";

const QueryDialog = lazy(() => import("./query-dialog.tsx"));

const breadcrumb = [{ name: "Queries", href: "/queries" }];

export default function QueryPage(): ReactElement {
  const { id = "" } = useParams<{ id: string }>();
  const reply = useRead(queriesApi.get, { params: { id } }, { isLive: true });
  const query = reply.data?.query;
  return (
    <Page title={query?.name ?? "Query"} breadcrumb={breadcrumb} actions={query && <Actions query={query} />}>
      <Read from={reply} what="query">
        {({ query: shown }) => (
          <>
            <About query={shown} />
            <QueryReport query={shown} />
          </>
        )}
      </Read>
    </Page>
  );
}

function Actions({ query }: { readonly query: Query }): ReactElement {
  const [dialog, setDialog] = useState<"edit" | "copy" | "delete" | null>(null);
  const go = useGo();
  useShortcut("e", "Edit the query", () => setDialog("edit"), may("queries:write", query.team_id));
  const mayRun = may("queries:run", query.team_id) && consolePaths.includes("/queries/live/new");
  return (
    <>
      <AsCommand
        command={`svc queries get ${shellArgument(query.name)}`}
        method="GET"
        path={`/api/v1/svc/queries/${query.id}`}
      />
      {may("queries:write", query.team_id) && (
        <>
          <button type="button" className="danger" onClick={() => setDialog("delete")}>
            Delete
          </button>
          <button type="button" className="plain" onClick={() => setDialog("copy")}>
            Copy
          </button>
          <button type="button" className="plain" onClick={() => setDialog("edit")}>
            Edit
          </button>
        </>
      )}
      {mayRun && (
        <PageLink className="button" href="/queries/live/new" query={{ query_id: query.id }}>
          Run
        </PageLink>
      )}
      <Suspense>
        {dialog === "edit" && <QueryDialog query={query} teamId={query.team_id} onClose={() => setDialog(null)} />}
        {dialog === "copy" && (
          <QueryDialog
            query={null}
            teamId={query.team_id}
            template={{ ...query, name: `${query.name} (copy)` }}
            onClose={() => setDialog(null)}
          />
        )}
      </Suspense>
      {dialog === "delete" && (
        <DeleteQueriesDialog
          queries={[query]}
          onClose={(isDone) => {
            setDialog(null);
            if (isDone) go("/queries");
          }}
        />
      )}
    </>
  );
}

function About({ query }: { readonly query: Query }): ReactElement {
  const { stats } = query;
  const time = (milliseconds: number | null) => (milliseconds === null ? null : `${Math.round(milliseconds)} ms`);
  return (
    <div className="grid">
      <Card title="About">
        <Facts
          facts={[
            ["Description", query.description],
            ["Runs every", query.interval === 0 ? "not scheduled" : duration(query.interval)],
            ["Platforms", query.platform || "all"],
            ["Labels", scopeText(query)],
            ["Logging", query.logging.replaceAll("_", " ")],
            ["Log destination", query.automations_enabled ? "on" : "off"],
            ["Observers", query.observer_can_run ? "may run it" : "may not run it"],
            ["User time", time(stats.user_time_p95)],
            ["System time", time(stats.system_time_p95)],
            ["Executions", stats.total_executions],
            ["Errors", query.error_message],
            ["Author", query.author_name],
            ["Changed", <Time key="changed" value={query.updated_at} />],
          ]}
        />
      </Card>
      <Card title="SQL">
        <ScrollingText text={query.query} />
      </Card>
    </div>
  );
}
