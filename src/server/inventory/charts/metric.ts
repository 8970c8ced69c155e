// What a metric of charts is: how it is recorded, deleted, and read.
import type { ChartFilters, ChartQuery } from "../../../api/inventory/charts.ts";
import type { HistoryDataset } from "../../../api/settings/history-settings.ts";
import type { HostBits } from "../../hosts/history/host-set.ts";
import type { Context, Services } from "../../platform/core/context.ts";
import type { ServerStore } from "../../platform/core/tables.ts";
import type { Predicate } from "../../platform/store/query.ts";

/** The time that a point stands for, in milliseconds; the end does not belong to it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface MetricRequest {
  readonly query: ChartQuery;
  /** Ascending, without gaps. */
  readonly spans: readonly Span[];
}

/** Filters that only this metric has, as they were applied, and how its points are counted. */
export interface MetricReading {
  readonly filters: Partial<ChartFilters>;
  /** For each span, the number of hosts among those that are visible. */
  count(visible: HostBits): Promise<number[]>;
}

export interface Metric {
  /** The switch that turns it off (`features.historical_data`). */
  readonly dataset: HistoryDataset;
  /** Whether it is due: `last` is when it was last recorded. */
  isDue(now: number, last: number | null): boolean;
  /** Records these hosts as they are now. May be repeated. */
  sample(services: Services, recorded: Predicate, last: number | null, signal: AbortSignal): Promise<void>;
  /** Deletes what was recorded of these hosts; null: of all. */
  clear(store: ServerStore, hosts: HostBits | null, signal: AbortSignal): Promise<void>;
  /** Deletes what is older, in small steps. */
  trim(store: ServerStore, before: number, signal: AbortSignal): Promise<void>;
  /** Throws 400 for filters that do not fit each other. */
  read(ctx: Context, request: MetricRequest): Promise<MetricReading>;
}
