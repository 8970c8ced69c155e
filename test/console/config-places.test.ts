// Every setting of /config has a place in the settings of the console, or there is a reason why not.
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { caFields, caTypes, secretFields } from "../../src/api/certificates/ca.ts";
import { configSecrets } from "../../src/api/secret-fields.ts";
import { ConfigSections } from "../../src/api/settings/app-config.ts";
import { osSettingPaths } from "../../src/api/settings/os-settings.ts";
import { caKinds } from "../../src/console/pages/certificates/authorities/ca-kinds.ts";
import { entryLists } from "../../src/console/pages/settings/app-config/entry-lists.ts";
import { configGroups } from "../../src/console/pages/settings/app-config/groups.ts";
import { noMacosSetup } from "../../src/server/settings/app-config/sections/mdm-rules.ts";

const CONTROLS = "the page Controls has it, for teams and for hosts without a team";
const RETURNED = "the server returns it, and nobody can set it";
const NOTHING = "it has no effect";
const CHART = "defaults of charts, which svc config set and files set";

const elsewhere: Readonly<Record<string, string>> = {
  "features.vulnerability_exposure_historical_reporting.software_filters": CHART,
  "features.vulnerability_exposure_historical_reporting.cvss_min": CHART,
  "features.vulnerability_exposure_historical_reporting.cvss_max": CHART,
  "features.vulnerability_exposure_historical_reporting.epss_min": CHART,
  "features.vulnerability_exposure_historical_reporting.epss_max": CHART,
  "features.vulnerability_exposure_historical_reporting.has_known_exploit": CHART,
  "features.vulnerability_exposure_historical_reporting.exclude_vulnerabilities": CHART,
  "server_settings.enable_analytics": NOTHING,
  "vulnerability_settings.databases_path": NOTHING,
  "smtp_settings.configured": RETURNED,
  "conditional_access.directory_connection_configured": RETURNED,
  "conditional_access.directory_tenant_id": "the connection with the directory sets it",
  "mdm.enabled_and_configured": RETURNED,
  "mdm.android_enabled_and_configured": RETURNED,
  "webhook_settings.failing_policies_webhook.policy_ids": "each policy says whether its automation is on",
  "mdm.macos_settings.custom_settings": CONTROLS,
  "mdm.windows_settings.custom_settings": CONTROLS,
  ...Object.fromEntries(osSettingPaths.map((path) => [`mdm.${path}`, CONTROLS])),
  ...Object.fromEntries(Object.keys(noMacosSetup).map((name) => [`mdm.macos_setup.${name}`, CONTROLS])),
};

/** The paths of all settings; a list or a map is one. */
function leaves(schema: z.ZodType, path: string): string[] {
  const { def } = schema;
  if ("innerType" in def) return leaves(def.innerType as z.ZodType, path);
  if (!(schema instanceof z.ZodObject) || path === "agent_options") return [path];
  return Object.entries(schema.shape).flatMap(([key, inner]) =>
    leaves(inner as z.ZodType, path === "" ? key : `${path}.${key}`),
  );
}

const all = leaves(ConfigSections, "");
const fields = Object.values(configGroups).flatMap((groups) => groups.flatMap((group) => group.fields));
const lists: readonly string[] = entryLists.map(({ path }) => path);

describe("the settings of the console", () => {
  it("have a place for every setting of the configuration, or a reason why they have none", () => {
    const places = new Set([...fields.map(({ path }) => path), ...lists, ...Object.keys(elsewhere)]);
    expect(all.filter((path) => !places.has(path))).toEqual([]);
  });

  it("name no setting that does not exist, and none twice", () => {
    const named = [...fields.map(({ path }) => path), ...lists, ...Object.keys(elsewhere)];
    expect(named.filter((path) => !all.includes(path))).toEqual([]);
    expect(named.filter((path, at) => named.indexOf(path) !== at)).toEqual([]);
  });

  it("have a field for everything in entries of lists", () => {
    for (const { path, fields: entryFields, blank } of entryLists)
      expect(entryFields.map((field) => field.path).sort(), path).toEqual(Object.keys(blank).sort());
  });

  it("do not show secrets in fields", () => {
    const secret = ({ path, kind }: { path: string; kind: string }) => (kind === "secret" ? [path] : []);
    expect(fields.flatMap(secret)).toEqual(configSecrets.smtp_settings.secrets.map((name) => `smtp_settings.${name}`));
    // The key of a calendar is one document, in which the server masks what is secret.
    expect(entryLists.flatMap((list) => list.fields.flatMap(secret).map((name) => `${list.path}.${name}`))).toEqual([
      "integrations.ticketing_a.api_token",
      "integrations.ticketing_b.api_token",
    ]);
  });

  it.each(caTypes)("have each field of a certificate authority of the kind %s", (type) => {
    const fields = caKinds[type].fields;
    expect(fields.map(({ name }) => name).sort()).toEqual(Object.keys(caFields[type]).sort());
    expect(fields.filter(({ kind }) => kind === "secret").map(({ name }) => name)).toEqual([secretFields[type]]);
  });
});
