import { lazy, type ReactElement, Suspense, useEffect, useState } from "react";
import { useParams } from "wouter";
import { queriesApi } from "../../../../api/checks/queries.ts";
import { type LiveQuery, liveQueriesApi } from "../../../../api/inventory/live-queries.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { PageLink } from "../../../frame/page-link.tsx";
import { useAction } from "../../../parts/action.ts";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Badge } from "../../../parts/badge.tsx";
import { ErrorMessage } from "../../../parts/error-message.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { may, maySomewhere } from "../../../session.ts";
import { useTeamId } from "../../../url.ts";
import { LiveOutput } from "./live-output.tsx";
import { OutcomeBar } from "./outcome-bar.tsx";
import { useLiveResults } from "./use-live-results.ts";
import "./live-queries.css";

const QueryDialog = lazy(() => import("../../checks/queries/query-dialog.tsx"));

const breadcrumb = [{ name: "Queries", href: "/queries" }];

/** A live query with its results, which arrive while it is open. */
export default function LiveQueryPage(): ReactElement {
  const { id = "" } = useParams<{ id: string }>();
  const reply = useRead(liveQueriesApi.get, { params: { id } }, { isLive: true });
  const live = reply.data?.live_query;
  const { results, version, error, isInterrupted } = useLiveResults(id);
  const outdate = useOutdate();
  const isFinished = results.status?.status === "finished";
  useEffect(() => {
    if (isFinished) void outdate(liveQueriesApi.get);
  }, [isFinished, outdate]);
  return (
    <Page title="Live query" breadcrumb={breadcrumb} actions={live && <Actions live={live} isFinished={isFinished} />}>
      <Read from={reply} what="live query">
        {({ live_query }) => <About live={live_query} />}
      </Read>
      {error !== null && reply.data !== undefined && <ErrorMessage error={error} />}
      {isInterrupted && (
        <p className="message note">The connection to the server broke. The page tries to continue with the results.</p>
      )}
      <OutcomeBar results={results} />
      <LiveOutput id={id} results={results} version={version} isFinished={isFinished} />
    </Page>
  );
}

function Actions({ live, isFinished }: { readonly live: LiveQuery; readonly isFinished: boolean }): ReactElement {
  const [isSaving, setSaving] = useState(false);
  const outdate = useOutdate();
  const teamId = useTeamId() || null;
  const cancel = useAction(async () => {
    await request(() => client.call(liveQueriesApi.cancel, { params: { id: String(live.id) } }));
    await outdate(liveQueriesApi.get);
  });
  const isOver = isFinished || live.status === "complete";
  return (
    <>
      <AsCommand
        command={`svc queries live follow ${live.id}`}
        method="GET"
        path={`/api/v1/svc/queries/live/${live.id}/stream`}
      />
      {live.query_id === null && may("queries:write", teamId) && (
        <button type="button" className="plain" onClick={() => setSaving(true)}>
          Save as query
        </button>
      )}
      {!isOver && (
        <button type="button" className="danger" onClick={() => cancel.run()}>
          Cancel query
        </button>
      )}
      {isOver && (live.query_id !== null || maySomewhere("queries:run_new")) && (
        <PageLink
          className="button"
          href="/queries/live/new"
          query={live.query_id === null ? { live_id: live.id } : { query_id: live.query_id }}
        >
          Run again
        </PageLink>
      )}
      <Suspense>
        {isSaving && (
          <QueryDialog
            query={null}
            teamId={teamId}
            template={{ name: "", query: live.query }}
            onClose={() => setSaving(false)}
          />
        )}
      </Suspense>
    </>
  );
}

const endings: Readonly<Record<NonNullable<LiveQuery["ended_by"]>, string>> = {
  answered: "finished: every host that is online has answered",
  time: "finished: its time was over",
  cancelled: "cancelled",
  unread: "finished: nobody had its page open for a minute",
};

function About({ live }: { readonly live: LiveQuery }): ReactElement {
  return (
    <>
      <p>
        <Badge tone={live.status === "complete" ? "quiet" : "good"}>
          {live.ended_by === null ? live.status : endings[live.ended_by]}
        </Badge>{" "}
        Started <Time value={live.created_at} />
        {live.queue_until !== null && live.status !== "complete" && (
          <>
            , also on hosts that come online until <Time value={live.queue_until} />
          </>
        )}
        .{live.query_id !== null && <SavedQuery id={live.query_id} />}
      </p>
      <ScrollingText text={live.query} />
    </>
  );
}

function SavedQuery({ id }: { readonly id: number }): ReactElement {
  const { data } = useRead(queriesApi.get, { params: { id: String(id) } });
  return (
    <>
      {" "}
      Query: <PageLink href={`/queries/${id}`}>{data?.query.name ?? String(id)}</PageLink>
    </>
  );
}
