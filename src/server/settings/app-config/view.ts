import { join } from "node:path";
import type { AppConfig } from "../../../api/settings/app-config.ts";
import { days, hours } from "../../platform/core/clock.ts";
import { type Context, isPremium } from "../../platform/core/context.ts";
import type { Settings } from "../../platform/core/settings/settings.ts";
import type { SectionValues } from "./change.ts";
import { masked } from "./secrets.ts";
import { allSections } from "./sections.ts";

const NANOSECONDS = 1_000_000;

type ReadOnly = "license" | "logging" | "update_interval" | "vulnerabilities" | "scripts";

/** The configuration as shown to this caller. */
export function viewConfig(ctx: Context, values: SectionValues): AppConfig {
  const shown = allSections
    .filter((section) => section.visibleTo(ctx.user))
    .map((section) => [section.name, masked(section, values.get(section.name) ?? section.defaults)]);
  const config = Object.fromEntries(shown) as Omit<AppConfig, ReadOnly>;
  const { settings } = ctx;
  return {
    ...config,
    server_settings: {
      ...config.server_settings,
      enable_analytics: isPremium(ctx) || config.server_settings.enable_analytics,
    },
    license: ctx.license,
    logging: {
      debug: settings.log_level === "debug" || settings.log_level === "trace",
      json: settings.log_format === "json",
      result: destination(settings, "result"),
      status: destination(settings, "status"),
    },
    update_interval: {
      qengine_detail: settings.detail_interval * NANOSECONDS,
      qengine_policy: settings.policy_interval * NANOSECONDS,
    },
    vulnerabilities: {
      databases_path: config.vulnerability_settings.databases_path,
      periodicity: hours(1) * NANOSECONDS,
      cpe_database_url: "",
      cve_feed_prefix_url: "",
      disable_schedule: false,
      disable_data_sync: false,
      recent_vulnerability_max_age: days(30) * NANOSECONDS,
    },
    scripts: [],
  };
}

function destination(settings: Settings, kind: "result" | "status"): AppConfig["logging"]["result"] {
  const plugin = settings[`${kind}_log`];
  if (plugin !== "file") return { plugin, config: {} };
  const name = kind === "result" ? "results.log" : "status.log";
  return {
    plugin: "filesystem",
    config: {
      [`${kind}_log_file`]: settings[`${kind}_log_file`] ?? join(settings.data_dir, "logs", name),
      enable_log_rotation: true,
      enable_log_compression: settings.log_rotate_compress,
    },
  };
}
