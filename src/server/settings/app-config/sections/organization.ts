import {
  ActivityExpiry,
  ConfigSections,
  Features,
  HostExpiry,
  OrgInfo,
  ServerSettings,
} from "../../../../api/settings/app-config.ts";
import { sqlProblem } from "../../../../sql/syntax.ts";
import { isUrlHost } from "../../../../text/urls.ts";
import { section } from "../section.ts";
import { badLinks, badServerUrls, badUrls, expiryProblem, missing, noHostExpiry } from "./rules.ts";

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

export const features = section({
  name: "features",
  schema: Features,
  defaults: { enable_host_users: true, enable_software_inventory: true, additional_queries: null },
  check: ({ additional_queries: queries }) =>
    Object.entries(queries ?? {}).flatMap(([name, sql]) => {
      const isMissing = name.trim() === "" || sql.trim() === "";
      const reason = isMissing ? "must have a name and a query" : sqlProblem(sql);
      return reason === null ? [] : [{ name: `additional_queries.${name}`, reason }];
    }),
});

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
