import { type ReactElement, useState } from "react";
import { type TaskHost, tasksApi } from "../../../api/platform/tasks.ts";
import { useRead } from "../../api.ts";
import { PageLink } from "../../frame/page-link.tsx";
import { Badge } from "../../parts/badge.tsx";
import { formatted } from "../../parts/counted.ts";
import { Facts } from "../../parts/facts.tsx";
import { Read } from "../../parts/loading/read.tsx";
import { SmallTable } from "../../parts/small-table.tsx";
import { Time } from "../../parts/time.tsx";
import { maySomewhere } from "../../session.ts";
import { nameOfTask, taskTones } from "./task-names.ts";

/** A task beside the list: how far it is, and what came of each of its hosts. */
export function TaskPanel({ id }: { readonly id: string }): ReactElement {
  const reply = useRead(tasksApi.get, { params: { id } }, { isLive: true });
  return (
    <Read from={reply} what="task">
      {({ task }) => (
        <>
          <h2>
            Task {task.id}: {nameOfTask(task)}
          </h2>
          <Facts
            facts={[
              [
                "State",
                <Badge key="state" tone={taskTones[task.state]}>
                  {task.state}
                </Badge>,
              ],
              ["Progress", `${formatted(task.progress)} of ${formatted(task.total)}`],
              ["Requested by", task.requested_by?.name ?? "svc"],
              ["Requested", <Time key="requested" value={task.created_at} />],
              ["Ended", task.finished_at === null ? null : <Time key="ended" value={task.finished_at} />],
              ["Error", task.error],
            ]}
          />
          <HostsOfTask id={id} />
        </>
      )}
    </Read>
  );
}

const PAGE_SIZE = 25;

function HostsOfTask({ id }: { readonly id: string }): ReactElement {
  const [outcome, setOutcome] = useState<TaskHost["outcome"] | "">("");
  const [page, setPage] = useState(0);
  const query = { page, per_page: PAGE_SIZE, ...(outcome === "" ? {} : { outcome }) };
  const reply = useRead(tasksApi.hosts, { params: { id }, query }, { isLive: true });
  return (
    <Read from={reply} what="hosts">
      {({ hosts, meta, count }) =>
        count === 0 && outcome === "" ? (
          <p className="quiet">This task has no list of hosts, or has not reached one yet.</p>
        ) : (
          <>
            {hosts.some(({ reference }) => reference !== "") && maySomewhere("hosts:read_activities") && (
              <p>
                <PageLink href="/changes" query={{ tab: "operations", task_id: id }}>
                  What waits for the hosts
                </PageLink>
              </p>
            )}
            <label className="field">
              Outcome
              <select
                value={outcome}
                onChange={({ target }) => {
                  setOutcome(target.value as TaskHost["outcome"] | "");
                  setPage(0);
                }}
              >
                <option value="">any</option>
                <option value="done">done</option>
                <option value="skipped">skipped</option>
              </select>
            </label>
            <SmallTable
              name="Hosts of the task"
              rows={hosts}
              keyOf={(host) => host.id}
              columns={[
                {
                  name: "Host",
                  cell: (host) => (
                    <PageLink href={`/hosts/${host.id}`}>{host.display_name || `Host ${host.id}`}</PageLink>
                  ),
                },
                {
                  name: "Outcome",
                  cell: (host) => <Badge tone={host.outcome === "done" ? "good" : "note"}>{host.outcome}</Badge>,
                },
                { name: "Reason", cell: ({ reason }) => reason },
              ]}
              empty="No host has this outcome."
            />
            <div className="pager">
              <button type="button" className="plain" disabled={page === 0} onClick={() => setPage(page - 1)}>
                Previous hosts
              </button>
              <button
                type="button"
                className="plain"
                disabled={!meta.has_next_results}
                onClick={() => setPage(page + 1)}
              >
                More hosts
              </button>
              <span className="quiet">{formatted(count)} in all</span>
            </div>
          </>
        )
      }
    </Read>
  );
}
