import { type ChartMetric, chartMetrics, MAX_CHART_DAYS } from "../../../api/inventory/chart-metrics.ts";
import { type Chart, type ChartQuery, vulnerabilityParameters } from "../../../api/inventory/charts.ts";
import { hostBits, readSwitches, recordedHosts } from "../../hosts/history/recorded.ts";
import { onPlatform } from "../../hosts/hosts/status.ts";
import { labelMembers } from "../../hosts/labels/tables.ts";
import { days, hours, isoAt, minutes } from "../../platform/core/clock.ts";
import { sharing } from "../../platform/core/concurrency/sharing.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { needPremium } from "../../platform/core/http/tier.ts";
import { inTeam, visible } from "../../platform/core/security/access.ts";
import { and, everything, exists, not, oneOf, or, type Predicate } from "../../platform/store/query.ts";
import type { Span } from "./metric.ts";
import { metrics } from "./metrics.ts";

export async function getChart(ctx: Context, name: ChartMetric, query: ChartQuery): Promise<Chart> {
  const { visualization, resolution: usual, isPremium } = chartMetrics[name];
  if (isPremium) needPremium(ctx);
  checkQuery(ctx, name, query);
  const resolution = query.resolution || usual;
  const spans = spansOf(ctx.clock.now(), query, resolution);
  const { filters, count } = await metrics[name].read(ctx, { query, spans });
  const key = JSON.stringify(["chart", name, visible(ctx, "hosts:list"), query, filters, spans[0]]);
  const { total, values } = await ctx.running.of(sharing).run(key, () => countHosts(ctx, name, query, spans, count));
  return {
    metric: name,
    visualization,
    total_hosts: total,
    resolution: resolution === 1 ? "hourly" : resolution === 24 ? "daily" : `${resolution}-hour`,
    days: query.days,
    filters: {
      team_id: query.team_id ?? null,
      label_ids: query.label_ids ?? [],
      include_host_ids: query.include_host_ids ?? [],
      exclude_host_ids: query.exclude_host_ids ?? [],
      platforms: query.platforms ?? [],
      ...filters,
    },
    data: spans.map(({ from }, i) => ({ timestamp: isoAt(from), value: values[i]! })),
  };
}

function checkQuery({ settings }: Context, name: ChartMetric, query: ChartQuery): void {
  if (query.days > Math.max(MAX_CHART_DAYS, settings.history_days))
    throw badRequest(`Invalid days: ${query.days}`, "days");
  if (name === "cve") return;
  const other = Object.keys(vulnerabilityParameters).find((key) => query[key as keyof ChartQuery] !== undefined);
  if (other !== undefined) throw badRequest(`Invalid ${other}: only the metric cve has it`, other);
}

/** The spans of the points: the last includes now, and those of a day begin at its local midnight. */
function spansOf(now: number, { days: count, tz_offset }: ChartQuery, resolution: number): Span[] {
  const [west, step] = [minutes(tz_offset), hours(resolution)];
  const local = now - west;
  const last = local - (local % step) + west;
  const first = last + step - days(count);
  return Array.from({ length: days(count) / step }, (_, i) => ({ from: first + i * step, to: first + (i + 1) * step }));
}

async function countHosts(
  ctx: Context,
  name: ChartMetric,
  query: ChartQuery,
  spans: readonly Span[],
  count: (visibleHosts: Awaited<ReturnType<typeof hostBits>>) => Promise<number[]>,
): Promise<{ total: number; values: number[] }> {
  const where = hostsOf(ctx, query);
  const switches = await readSwitches(ctx, metrics[name].dataset);
  const recorded = recordedHosts(switches);
  if (!switches.isOn) return { total: await ctx.store.hosts.count(where), values: spans.map(() => 0) };
  const [hosts, total] = await Promise.all([
    hostBits(ctx.store, and(where, recorded)),
    recorded === everything ? null : ctx.store.hosts.count(where),
  ]);
  return { total: total ?? hosts.size, values: await count(hosts) };
}

/** The hosts that a chart is about, among those that the caller sees. */
function hostsOf(ctx: Context, query: ChartQuery): Predicate {
  const ifListed = (ids: readonly number[] | undefined, where: (ids: readonly number[]) => Predicate) =>
    ids === undefined || ids.length === 0 ? everything : where(ids);
  return and(
    visible(ctx, "hosts:list"),
    inTeam(query.team_id),
    ifListed(query.label_ids, (ids) => exists(labelMembers, "host_id", oneOf("label_id", ids))),
    ifListed(query.include_host_ids, (ids) => oneOf("id", ids)),
    ifListed(query.exclude_host_ids, (ids) => not(oneOf("id", ids))),
    query.platforms === undefined || query.platforms.length === 0 ? everything : or(...query.platforms.map(onPlatform)),
  );
}
