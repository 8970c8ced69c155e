// Charts of what was: numbers of hosts over time.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Id, QueryFlag, QueryInt, QueryTeam, Timestamp } from "../fields.ts";
import { softwareFilters } from "../settings/history-settings.ts";
import { CHART_DAYS, chartMetricNames, chartMetrics, MAX_CHART_DAYS } from "./chart-metrics.ts";

const HOURS_OF_DAY = 24;
/** Offsets from UTC are at most 14 hours. */
const MAX_OFFSET = 14 * 60;
const MAX_LISTED = 10_000;

/** Names separated by commas; blank ones are left out. */
const list = <T>(read: (part: string) => T | null) =>
  z
    .string()
    .max(MAX_LISTED * 10)
    .transform((text, context): T[] => {
      const parts = text.split(",").map((part) => part.trim());
      const values = parts.filter((part) => part !== "").map(read);
      if (values.length <= MAX_LISTED && !values.includes(null)) return values as T[];
      context.issues.push({ code: "custom", message: "Invalid input", input: text });
      return z.NEVER;
    })
    .meta({ type: "string" });
const ids = list((part) => (/^\d{1,15}$/.test(part) && Number(part) > 0 ? Number(part) : null));
const cves = list((part) => (/^CVE-\d{4}-\d{4,19}$/i.test(part) ? part.toUpperCase() : null));
const kinds = list((part) => softwareFilters.find((name) => name === part) ?? null);
const platforms = list((part) => (part.length <= 255 ? part : null));

const between = (low: number, high: number) =>
  z
    .string()
    .refine((text) => /^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) >= low && Number(text) <= high)
    .transform(Number)
    .meta({ type: "number", minimum: low, maximum: high });

const CVE_ONLY = "only of the metric cve";
/** Parameters that only the metric `cve` has. */
export const vulnerabilityParameters = {
  software_filters: kinds
    .optional()
    .meta({ description: `${CVE_ONLY}: kinds of software, separated by commas: ${softwareFilters.join(", ")}` }),
  has_known_exploit: QueryFlag.optional().meta({ description: `${CVE_ONLY}: vulnerabilities known to be exploited` }),
  epss_min: between(0, 1)
    .optional()
    .meta({ description: `${CVE_ONLY}: EPSS probability, 0 to 1` }),
  epss_max: between(0, 1)
    .optional()
    .meta({ description: `${CVE_ONLY}: EPSS probability, 0 to 1` }),
  severity_min: between(0, 10)
    .optional()
    .meta({
      description: `${CVE_ONLY}: CVSS score, 0 to 10. Without it and severity_max, critical vulnerabilities count (9 and more)`,
    }),
  severity_max: between(0, 10)
    .optional()
    .meta({ description: `${CVE_ONLY}: CVSS score, 0 to 10` }),
  exclude_vulnerabilities: cves
    .optional()
    .meta({ description: `${CVE_ONLY}: CVEs that do not count, separated by commas` }),
};

export const ChartQuery = z.object({
  days: QueryInt.refine((days) => days >= 1)
    .default(CHART_DAYS)
    .meta({ description: `1 to ${MAX_CHART_DAYS}, or more if the server keeps more days` }),
  resolution: QueryInt.refine((hours) => hours === 0 || (hours > 0 && HOURS_OF_DAY % hours === 0))
    .default(0)
    .meta({ description: "hours of each point: a divisor of 24; 0: that of the metric" }),
  tz_offset: QueryInt.refine((minutes) => Math.abs(minutes) <= MAX_OFFSET)
    .default(0)
    .meta({
      description:
        "minutes west of UTC, as getTimezoneOffset() in browsers: points begin at full hours and days of this time zone",
    }),
  team_id: QueryTeam.optional(),
  label_ids: ids.optional().meta({ description: "hosts in any of these labels: ids, separated by commas" }),
  include_host_ids: ids.optional().meta({ description: "only these hosts: ids, separated by commas" }),
  exclude_host_ids: ids.optional().meta({ description: "without these hosts: ids, separated by commas" }),
  platforms: platforms.optional().meta({ description: "separated by commas; linux: all distributions" }),
  ...vulnerabilityParameters,
});
export type ChartQuery = z.output<typeof ChartQuery>;

const Filters = z.object({
  team_id: z.int().nullable().meta({ description: "null: all teams that the caller sees; 0: no team" }),
  label_ids: z.array(Id),
  include_host_ids: z.array(Id),
  exclude_host_ids: z.array(Id),
  platforms: z.array(z.string()),
  software_filters: z
    .array(z.enum(softwareFilters))
    .nullable()
    .optional()
    .meta({ description: "null: all software; this and what follows only for the metric cve" }),
  has_known_exploit: z.boolean().optional(),
  epss_min: z.number().nullable().optional(),
  epss_max: z.number().nullable().optional(),
  severity_min: z.number().nullable().optional(),
  severity_max: z.number().nullable().optional(),
  exclude_vulnerabilities: z.array(z.string()).optional(),
});
export type ChartFilters = z.infer<typeof Filters>;

export const Chart = z.object({
  metric: z.enum(chartMetricNames),
  visualization: z.enum(["line", "checkerboard"]),
  total_hosts: z.int().min(0).meta({ description: "hosts that match the filters now" }),
  resolution: z.string().meta({ description: "hourly, daily, or such as 3-hour" }),
  days: z.int(),
  filters: Filters.meta({ description: "as they were applied" }),
  data: z.array(
    z.object({
      timestamp: Timestamp.meta({ description: "the beginning of the time that the point stands for" }),
      value: z.int().min(0).meta({ description: "hosts, each counted once; only those that match the filters now" }),
    }),
  ),
});
export type Chart = z.infer<typeof Chart>;

const metrics = chartMetricNames.map((name) => `${name}: ${chartMetrics[name].summary}`).join("; ");

export const chartsApi = {
  get: endpoint({
    method: "GET",
    path: "/charts/:metric",
    summary: "Get numbers of hosts over time.",
    access: { action: "hosts:list", scope: "team" },
    params: z.object({ metric: z.enum(chartMetricNames).meta({ description: `${metrics} (premium)` }) }),
    query: ChartQuery,
    response: Chart,
  }),
};
