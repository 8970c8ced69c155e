import { type ReactElement, useState } from "react";
import type { Host } from "../../../../api/hosts/host.ts";
import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { SmallTable } from "../../../parts/small-table.tsx";
import { Time } from "../../../parts/time.tsx";
import { useTeamId } from "../../../url.ts";

const fields = "display_name,os_version,team_name,last_enrolled_at";

/** The hosts that have enrolled last. Those that come while the page is open are added. */
export function NewHosts(): ReactElement {
  const teamId = useTeamId();
  const query = {
    fields,
    order_key: "last_enrolled_at",
    order_direction: "desc",
    per_page: 20,
    status: "new",
    ...(teamId === null ? {} : { team_id: teamId }),
  } as const;
  const reply = useRead(hostsApi.list, { query }, { isLive: true });
  const [before, setBefore] = useState<readonly number[] | null>(null);
  if (before === null && reply.data !== undefined) setBefore(reply.data.hosts.map(({ id }) => id));
  return (
    <section className="card" aria-labelledby="new-hosts">
      <h2 id="new-hosts">New hosts</h2>
      <p className="quiet">
        Hosts that have enrolled within a day. A host appears here some seconds after its command.
      </p>
      <Read from={reply} what="new hosts">
        {({ hosts }) => (
          <SmallTable<Host>
            name="New hosts"
            rows={hosts}
            keyOf={({ id }) => id}
            columns={[
              {
                name: "Name",
                cell: ({ id, display_name }) => <PageLink href={`/hosts/${id}`}>{display_name}</PageLink>,
              },
              { name: "Operating system", cell: ({ os_version }) => os_version },
              { name: "Team", cell: ({ team_name }) => team_name },
              { name: "Enrolled", cell: ({ last_enrolled_at }) => <Time value={last_enrolled_at} /> },
              { name: "Came", cell: ({ id }) => (before?.includes(id) === false ? "while you wait" : "") },
            ]}
            empty="Waiting for the first host."
          />
        )}
      </Read>
    </section>
  );
}
