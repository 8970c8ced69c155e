import type { ReactElement } from "react";
import { policiesApi } from "../../../../api/checks/policies.ts";
import { queriesApi } from "../../../../api/checks/queries.ts";
import { liveQueriesApi } from "../../../../api/inventory/live-queries.ts";
import { useRead } from "../../../api.ts";
import { Page } from "../../../frame/page.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { maySomewhere } from "../../../session.ts";
import { useUrl } from "../../../url.ts";
import { LiveQueryForm } from "./live-query-form.tsx";
import { SavedQueryPicker } from "./saved-query-picker.tsx";
import "./live-queries.css";

const breadcrumb = [{ name: "Queries", href: "/queries" }];

/** Starts a live query: of new SQL, of a saved query, or of the SQL of something else (`live_id`, `policy_id`). */
export default function NewLiveQueryPage(): ReactElement {
  const url = useUrl();
  const [queryId, liveId, policyId] = ["query_id", "live_id", "policy_id"].map((name) => url.get(name));
  return (
    <Page title="New live query" breadcrumb={breadcrumb}>
      {queryId ? (
        <OfSavedQuery key={queryId} id={queryId} />
      ) : !maySomewhere("queries:run_new") ? (
        <>
          <p>Your role may run queries that are saved for observers.</p>
          <SavedQueryPicker />
        </>
      ) : liveId ? (
        <OfLiveQuery id={liveId} />
      ) : policyId ? (
        <OfPolicy id={policyId} />
      ) : (
        <LiveQueryForm sql="" query={null} />
      )}
    </Page>
  );
}

function OfSavedQuery({ id }: { readonly id: string }): ReactElement {
  const reply = useRead(queriesApi.get, { params: { id } });
  return (
    <Read from={reply} what="query">
      {({ query }) => <LiveQueryForm sql={query.query} query={query} />}
    </Read>
  );
}

function OfLiveQuery({ id }: { readonly id: string }): ReactElement {
  const reply = useRead(liveQueriesApi.get, { params: { id } });
  return (
    <Read from={reply} what="live query">
      {({ live_query }) => <LiveQueryForm sql={live_query.query} query={null} />}
    </Read>
  );
}

function OfPolicy({ id }: { readonly id: string }): ReactElement {
  const reply = useRead(policiesApi.getGlobal, { params: { id } });
  return (
    <Read from={reply} what="policy">
      {({ policy }) => <LiveQueryForm sql={policy.query} query={null} />}
    </Read>
  );
}
