import type { ReactElement } from "react";
import { chartsApi } from "../../../../api/inventory/charts.ts";
import { useRead } from "../../../api.ts";
import { Card } from "../../../parts/card.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { TimeChart } from "../../../parts/pictures/time-chart.tsx";

const DAYS = 30;
const HOURS_PER_POINT = 3;
const POINTS_PER_DAY = 24 / HOURS_PER_POINT;
const STALE_MS = 60_000;

/** When the host was online: a column for each day. */
export function OnlineCard({ hostId }: { readonly hostId: number }): ReactElement {
  const query = {
    days: String(DAYS),
    resolution: String(HOURS_PER_POINT),
    tz_offset: String(new Date().getTimezoneOffset()),
    include_host_ids: String(hostId),
  };
  const reply = useRead(chartsApi.get, { params: { metric: "uptime" as const }, query }, { staleTime: STALE_MS });
  return (
    <Card title={`Online in the last ${DAYS} days`}>
      <div className="time-chart-place">
        <Read from={reply} what="chart">
          {({ data }) => (
            <TimeChart name="Online" points={data} total={1} shape="grid" perDay={POINTS_PER_DAY} words={state} />
          )}
        </Read>
      </div>
    </Card>
  );
}

const state = (value: number): string => (value === 0 ? "not online" : "online");
