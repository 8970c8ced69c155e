import { type ReactElement, useState } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostActivitiesApi } from "../../../../api/hosts/host-activities.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { useAction } from "../../../parts/action.ts";
import { ActivityFeed } from "../../../parts/activities/activity-feed.tsx";
import type { ShownActivity } from "../../../parts/activities/pieces.ts";
import { Read } from "../../../parts/loading/read.tsx";
import { may } from "../../../session.ts";

const PAGE_SIZE = 25;

/** What will be done on the host, which may be cancelled, and what was done. */
export function ActivityTab({ host }: { readonly host: Host }): ReactElement {
  const outdate = useOutdate();
  const [page, setPage] = useState(0);
  const params = { id: String(host.id) };
  const upcoming = useRead(hostActivitiesApi.upcoming, { params, query: { page: 0, per_page: 100 } }, { isLive: true });
  const past = useRead(hostActivitiesApi.list, { params, query: { page, per_page: PAGE_SIZE } }, { isLive: true });
  const cancel = useAction(async (uuid: string) => {
    await request(() => client.call(hostActivitiesApi.cancel, { params: { ...params, activity_id: uuid } }));
    notifyDone("It is cancelled.");
    await outdate(hostActivitiesApi.upcoming, hostActivitiesApi.list);
  });
  const cancelButton = (activity: ShownActivity) =>
    "uuid" in activity &&
    may("hosts:cancel_activity", host.team_id) && (
      <button type="button" className="plain small" onClick={() => cancel.run(activity.uuid)}>
        Cancel
      </button>
    );
  return (
    <div className="grid">
      <section className="card" aria-labelledby="past">
        <h2 id="past">Past</h2>
        <Read from={past} what="activities">
          {({ activities, meta }) => (
            <>
              <ActivityFeed
                label="Past activities"
                activities={activities}
                empty="Nothing was done on this host yet."
              />
              <div className="pager">
                <button type="button" className="plain" disabled={page === 0} onClick={() => setPage(page - 1)}>
                  Newer
                </button>
                <button
                  type="button"
                  className="plain"
                  disabled={!meta.has_next_results}
                  onClick={() => setPage(page + 1)}
                >
                  Older
                </button>
              </div>
            </>
          )}
        </Read>
      </section>
      <section className="card" aria-labelledby="upcoming">
        <h2 id="upcoming">Upcoming</h2>
        <Read from={upcoming} what="upcoming activities">
          {({ activities }) => (
            <ActivityFeed
              label="Upcoming activities"
              activities={activities}
              empty="Nothing is waiting."
              action={cancelButton}
            />
          )}
        </Read>
      </section>
    </div>
  );
}
