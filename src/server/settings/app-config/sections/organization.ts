import {
  ActivityExpiry,
  ConfigSections,
  Features,
  HostExpiry,
  OrgInfo,
  ServerSettings,
  type TeamFeatures,
} from "../../../../api/settings/app-config.ts";
import { sqlProblem } from "../../../../sql/syntax.ts";
import { isCve } from "../../../../text/cve.ts";
import { isUrlHost } from "../../../../text/urls.ts";
import type { FieldError } from "../../../platform/core/errors.ts";
import { section } from "../section.ts";
import { badLinks, badServerUrls, badUrls, expiryProblem, missing, noHostExpiry, under } from "./rules.ts";

export const orgInfo = section({
  name: "org_info",
  schema: OrgInfo,
  defaults: { org_name: "", org_logo_url: "", org_logo_url_light_background: "", contact_url: "" },
  check: (value) => badLinks(value, ["org_logo_url", "org_logo_url_light_background", "contact_url"]),
});

export const serverSettings = section({
  name: "server_settings",
  schema: ServerSettings,
  defaults: {
    server_url: "",
    enable_analytics: false,
    live_query_disabled: false,
    scripts_disabled: false,
    query_reports_disabled: false,
    ai_features_disabled: false,
    query_report_cap: 1000,
  },
  check: (value) => badServerUrls(value, ["server_url"]),
});

export const hostExpiry = section({
  name: "host_expiry_settings",
  schema: HostExpiry,
  defaults: noHostExpiry,
  check(value) {
    const reason = expiryProblem(value.host_expiry_enabled, value.host_expiry_window);
    return reason ? [{ name: "host_expiry_window", reason }] : [];
  },
});

export const activityExpiry = section({
  name: "activity_expiry_settings",
  schema: ActivityExpiry,
  defaults: { activity_expiry_enabled: false, activity_expiry_window: 0 },
  check(value) {
    const reason = expiryProblem(value.activity_expiry_enabled, value.activity_expiry_window);
    return reason ? [{ name: "activity_expiry_window", reason }] : [];
  },
});

/** The features of a team that has changed none. */
export const noTeamFeatures: TeamFeatures = {
  enable_host_users: true,
  enable_software_inventory: true,
  additional_queries: null,
  historical_data: { uptime: true, vulnerabilities: true },
};

const CHART = "vulnerability_exposure_historical_reporting";
const noChartDefaults: Features[typeof CHART] = {
  software_filters: null,
  cvss_min: null,
  cvss_max: null,
  epss_min: null,
  epss_max: null,
  has_known_exploit: false,
  exclude_vulnerabilities: [],
};

export const features = section({
  name: "features",
  schema: Features,
  defaults: {
    ...noTeamFeatures,
    [CHART]: noChartDefaults,
  },
  premium: Object.keys(noChartDefaults).map((name) => `${CHART}.${name}`),
  check: (value) => [
    ...additionalQueryProblems(value),
    ...under(CHART, chartProblems(value.vulnerability_exposure_historical_reporting)),
  ],
});

export const additionalQueryProblems = ({ additional_queries: queries }: TeamFeatures): FieldError[] =>
  Object.entries(queries ?? {}).flatMap(([name, sql]) => {
    const isMissing = name.trim() === "" || sql.trim() === "";
    const reason = isMissing ? "must have a name and a query" : sqlProblem(sql);
    return reason === null ? [] : [{ name: `additional_queries.${name}`, reason }];
  });

function chartProblems(chart: Features[typeof CHART]): FieldError[] {
  const isAbove = (low: number | null, high: number | null) => low !== null && high !== null && low > high;
  return [
    ...(isAbove(chart.cvss_min, chart.cvss_max) ? [{ name: "cvss_min", reason: "must not be above cvss_max" }] : []),
    ...(isAbove(chart.epss_min, chart.epss_max) ? [{ name: "epss_min", reason: "must not be above epss_max" }] : []),
    ...chart.exclude_vulnerabilities.flatMap((cve, i) =>
      isCve(cve.toUpperCase())
        ? []
        : [{ name: `exclude_vulnerabilities.${i}`, reason: "must be a CVE, such as CVE-2026-1234" }],
    ),
  ];
}

export const vulnerabilitySettings = section({
  name: "vulnerability_settings",
  schema: ConfigSections.shape.vulnerability_settings,
  defaults: { databases_path: "" },
});

export const desktop = section({
  name: "svc_desktop",
  schema: ConfigSections.shape.svc_desktop,
  defaults: { transparency_url: "", alternative_browser_host: "", sso_enabled: false },
  premium: ["transparency_url", "alternative_browser_host", "sso_enabled"],
  check: (value) => [
    ...badUrls(value, ["transparency_url"]),
    ...(value.alternative_browser_host === "" || isUrlHost(value.alternative_browser_host)
      ? []
      : [{ name: "alternative_browser_host", reason: "must be a host name, or host:port, without https:// and path" }]),
  ],
});

export const gitops = section({
  name: "gitops",
  schema: ConfigSections.shape.gitops,
  defaults: {
    gitops_mode_enabled: false,
    repository_url: "",
    exceptions: { labels: false, software: false, secrets: false },
  },
  premium: ["gitops_mode_enabled", "repository_url", "exceptions.labels", "exceptions.software", "exceptions.secrets"],
  check: (value) => [
    ...(value.gitops_mode_enabled ? missing(value, ["repository_url"], "enable GitOps mode") : []),
    ...badUrls(value, ["repository_url"]),
  ],
});
