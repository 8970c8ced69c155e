import type { ReactElement } from "react";
import { approvalsApi } from "../../../../api/hosts/approvals.ts";
import { useRead } from "../../../api.ts";
import { Card } from "../../../parts/card.tsx";
import { counted } from "../../../parts/counted.ts";
import { Time } from "../../../parts/time.tsx";

/** Requests that wait for the user. Nothing if there are none. */
export function ApprovalsCard(): ReactElement | null {
  const query = { state: "pending", page: 0, per_page: 25 } as const;
  const { data } = useRead(approvalsApi.list, { query }, { isLive: true });
  const waiting = (data?.approvals ?? []).filter(({ may_decide }) => may_decide);
  if (waiting.length === 0) return null;
  return (
    <Card title="Waiting for you" more={{ name: "All approvals", href: "/changes" }}>
      <ul className="feed">
        {waiting.map(({ id, action, requested_by, hosts_count, expires_at }) => (
          <li key={id}>
            <span>
              {requested_by.name} wants to {action === "delete_hosts" ? "delete" : "erase"}{" "}
              {counted(hosts_count, "host")}
              <span className="quiet">
                , until <Time value={expires_at} />
              </span>
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
