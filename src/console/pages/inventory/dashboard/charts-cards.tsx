import type { ReactElement } from "react";
import type { ChartMetric } from "../../../../api/inventory/chart-metrics.ts";
import { chartsApi } from "../../../../api/inventory/charts.ts";
import { useRead } from "../../../api.ts";
import { Card } from "../../../parts/card.tsx";
import { InlineSelect } from "../../../parts/form/inline-select.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { TimeChart } from "../../../parts/pictures/time-chart.tsx";
import { useTeamId, useUrl } from "../../../url.ts";

const ranges = [
  { value: 7, label: "7 days" },
  { value: 30, label: "30 days" },
] as const;

/** Points of a longer chart stand for a day. */
const resolutionOf = (days: number): number => (days === 7 ? 3 : 24);
const STALE_MS = 60_000;

interface ChartCardProps {
  readonly metric: ChartMetric;
  readonly title: string;
  /** The parameter of the URL with the range. */
  readonly parameter: string;
  readonly more: { readonly name: string; readonly href: string; readonly query?: Readonly<Record<string, string>> };
}

function ChartCard({ metric, title, parameter, more }: ChartCardProps): ReactElement {
  const url = useUrl();
  const teamId = useTeamId();
  const days = url.get(parameter) === "30" ? 30 : 7;
  const query = {
    days: String(days),
    resolution: String(resolutionOf(days)),
    tz_offset: String(new Date().getTimezoneOffset()),
    ...(teamId === null ? {} : { team_id: teamId }),
  };
  const reply = useRead(chartsApi.get, { params: { metric }, query }, { staleTime: STALE_MS });
  return (
    <Card title={title} more={more}>
      <InlineSelect
        label={`${title}: time`}
        options={ranges}
        value={days}
        onChange={(value) => url.set({ [parameter]: value === 7 ? null : value }, { replace: true })}
      />
      <div className="time-chart-place">
        <Read from={reply} what="chart">
          {(chart) => <TimeChart key={days} name={title} points={chart.data} total={chart.total_hosts} />}
        </Read>
      </div>
    </Card>
  );
}

export const OnlineHistoryCard = (): ReactElement => (
  <ChartCard
    metric="uptime"
    title="Online hosts"
    parameter="online_days"
    more={{ name: "Hosts online now", href: "/hosts", query: { status: "online" } }}
  />
);

export const CriticalHistoryCard = (): ReactElement => (
  <ChartCard
    metric="cve"
    title="Hosts with critical vulnerabilities"
    parameter="critical_days"
    more={{ name: "Hosts affected now", href: "/hosts", query: { where: "critical_vulnerabilities > 0" } }}
  />
);
