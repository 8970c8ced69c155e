import type { ChartQuery } from "../../../api/inventory/charts.ts";
import type { Features } from "../../../api/settings/app-config.ts";
import { hourOf } from "../../hosts/history/hours.ts";
import { isoAt } from "../../platform/core/clock.ts";
import { badRequest } from "../../platform/core/errors.ts";
import { and, eq, everything, gte, lte, type Predicate } from "../../platform/store/query.ts";
import { CRITICAL_SCORE } from "../../software/software/vulnerabilities/critical.ts";
import { clearVulnerabilities, trimVulnerabilities } from "../../software/vulnerability-history/keep.ts";
import { readAffected } from "../../software/vulnerability-history/read.ts";
import { sampleVulnerabilities } from "../../software/vulnerability-history/sample.ts";
import type { Metric } from "./metric.ts";

export const cve: Metric = {
  dataset: "vulnerabilities",
  isDue: (now, last) => last === null || hourOf(last) !== hourOf(now),
  sample: (services, recorded, _last, signal) => sampleVulnerabilities(services, recorded, signal),
  clear: clearVulnerabilities,
  trim: (store, before, signal) => trimVulnerabilities(store, isoAt(before), signal),
  async read(ctx, { query, spans }) {
    const { features } = await ctx.config.current();
    const filters = appliedFilters(query, features.vulnerability_exposure_historical_reporting);
    return {
      filters,
      async count(visible) {
        const selection = {
          where: severityWhere(filters),
          excluded: new Set(filters.exclude_vulnerabilities),
          software: filters.software_filters,
        };
        const affected = await readAffected(
          ctx,
          spans.map(({ to }) => to),
          selection,
        );
        return affected.map((bits) => bits.sizeWithin(visible));
      },
    };
  },
};

type Defaults = Features["vulnerability_exposure_historical_reporting"];
type VulnerabilityFilters = ReturnType<typeof appliedFilters>;

/** The filters of a request, completed by those of the configuration. */
function appliedFilters(query: ChartQuery, defaults: Defaults) {
  const percent = (value: number | null) => (value === null ? null : value / 100);
  const severity_max = query.severity_max ?? defaults.cvss_max;
  const severity_min = query.severity_min ?? defaults.cvss_min ?? (severity_max === null ? CRITICAL_SCORE : null);
  const [epss_min, epss_max] = [
    query.epss_min ?? percent(defaults.epss_min),
    query.epss_max ?? percent(defaults.epss_max),
  ];
  checkOrder("severity_min", severity_min, severity_max);
  checkOrder("epss_min", epss_min, epss_max);
  const software = query.software_filters ?? defaults.software_filters ?? [];
  return {
    software_filters: software.length === 0 ? null : [...new Set(software)],
    has_known_exploit: query.has_known_exploit ?? defaults.has_known_exploit,
    epss_min,
    epss_max,
    severity_min,
    severity_max,
    exclude_vulnerabilities:
      query.exclude_vulnerabilities ?? defaults.exclude_vulnerabilities.map((name) => name.toUpperCase()),
  };
}

function checkOrder(name: string, low: number | null, high: number | null): void {
  if (low !== null && high !== null && low > high)
    throw badRequest(`Invalid ${name}: ${low} (it is above ${name.replace("min", "max")}, ${high})`, name);
}

/** Scores that are not known are below 0, and within no limits. */
function severityWhere({
  severity_min,
  severity_max,
  epss_min,
  epss_max,
  has_known_exploit,
}: VulnerabilityFilters): Predicate {
  const within = (column: string, low: number | null, high: number | null): Predicate =>
    low === null && high === null
      ? everything
      : and(gte(column, low ?? 0), high === null ? everything : lte(column, high));
  return and(
    within("cvss_score", severity_min, severity_max),
    within("epss_probability", epss_min, epss_max),
    has_known_exploit ? eq("cisa_known_exploit", true) : everything,
  );
}
