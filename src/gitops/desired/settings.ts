// The desired settings: sections of the organization, of teams, and of hosts without a team.

import type { z } from "zod";
import { type ConfigurationState, NO_TEAM_NAME } from "../../api/configuration.ts";
import { isRecord } from "../../text/record.ts";
import { overlay, type Value } from "../files/overlay.ts";
import type { FileScope } from "../files/read.ts";
import type { YaraText } from "../files/yara.ts";
import type { Json, Owner, Thing } from "../plan/diff.ts";
import {
  GlobalControls,
  keptSections,
  mdmLeft,
  NoTeamSettings,
  OrgSettings,
  orgSections,
  TeamControls,
  TeamSettings,
} from "../schema/settings.ts";
import type { Current } from "./current.ts";

export const thing = (kind: Thing["kind"], owner: Owner, name: string, value: unknown): Thing => ({
  kind,
  owner,
  name,
  value: value as Json,
});
export const over = (schema: z.ZodType, base: unknown, given: unknown): Value => overlay(schema, base, given) as Value;
const objectIn = (value: unknown, key: string): Value =>
  isRecord(value) && isRecord(value[key]) ? (value[key] as Value) : {};

export function desiredConfig(global: FileScope, noTeam: FileScope | undefined, current: Current): Thing[] {
  const { defaults } = current.state;
  const settings = global.says.settings ?? {};
  const things: Thing[] = [];
  for (const [name, schema] of Object.entries(orgSections)) {
    const given = settings[name];
    const isKept = keptSections.has(name);
    if (isKept && !isRecord(given)) continue;
    const base = (isKept ? current.value("config", null, name) : undefined) ?? defaults.config[name];
    things.push(thing("config", null, name, asKept(name, over(schema, base, given))));
  }
  things.push(thing("config", null, "mdm", desiredMdm(global, noTeam, current)));
  things.push(thing("config", null, "yara_rules", yaraValue(global.yaraRules)));
  const options = global.says.agentOptions;
  things.push(thing("agent_options", null, "agent_options", options ? agentOptions(options) : defaults.agent_options));
  return things;
}

/** The server's form: texts by name. */
export const yaraValue = (rules: readonly YaraText[]): Value =>
  Object.fromEntries(rules.map(({ name, contents }) => [name, contents]));

function desiredMdm(global: FileScope, noTeam: FileScope | undefined, current: Current): Value {
  const base = current.state.defaults.config.mdm;
  const before = current.value("config", null, "mdm") ?? base;
  const controls = global.says.controls ?? noTeam?.says.controls;
  // The one file that could define this may have been skipped.
  const isSaid = controls !== undefined && controls !== null;
  const org = objectIn(global.says.settings, "mdm");
  const own = overlay(
    OrgSettings.shape.mdm!,
    isSaid ? base : { ...(before as Value), ...orgMdmOf(base) },
    org,
  ) as Value;
  const value = asKept("mdm", own);
  return isSaid ? withControls(GlobalControls, value, controls, before) : value;
}

const orgMdmOf = (base: unknown): Value => {
  const { end_user_authentication, vendora_server_url } = base as Value;
  return { end_user_authentication, vendora_server_url };
};

/** Settings of device management with those of controls; paths that files cannot express keep their values. */
function withControls(
  schema: typeof GlobalControls,
  base: Value,
  controls: Value | null | undefined,
  before: unknown,
): Value {
  const wanted = over(schema, base, controls);
  const updates = objectIn(wanted, "macos_updates");
  const given = objectIn(controls, "macos_updates").update_new_hosts;
  const update_new_hosts = given ?? (updates.minimum_version !== "" && updates.deadline !== "");
  const value = { ...wanted, macos_updates: { ...updates, update_new_hosts } };
  return mdmLeft.reduce((left, path) => copied(left, before, path.split(".")), value as Value);
}

function copied(value: Value, from: unknown, [key, ...rest]: readonly string[]): Value {
  if (key === undefined || !isRecord(from) || !Object.hasOwn(from, key) || !Object.hasOwn(value, key)) return value;
  return { ...value, [key]: rest.length === 0 ? from[key] : copied(objectIn(value, key), from[key], rest) };
}

/** The form in which the server stores values: blanks around texts are removed, and each key has one spelling. */
export function asKept(section: string, value: Value): Value {
  if (section === "mdm")
    return { ...value, end_user_authentication: trimmed(objectIn(value, "end_user_authentication")) };
  if (section === "sso_settings" || section === "conditional_access") return trimmed(value);
  if (section !== "smtp_settings") return value;
  const types: Readonly<Record<string, string>> = {
    authtype_username_password: "authtype_username_and_password",
    authtype_none: "none",
  };
  const type = String(value.authentication_type);
  return { ...value, authentication_type: Object.hasOwn(types, type) ? types[type] : type };
}

const trimmed = (value: Value): Value =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, typeof one === "string" ? one.trim() : one]));

/** A null in place of a part means that it is absent; inside of parts, null has a meaning. */
export function agentOptions(given: Value): Value {
  const parts = Object.entries(given).filter(([, part]) => part !== null && part !== undefined);
  return Object.fromEntries(
    parts.map(([key, part]) => [
      key,
      key === "overrides" ? Object.fromEntries(Object.entries(part as Value).filter(([, one]) => one !== null)) : part,
    ]),
  );
}

/** A webhook that did not exist gets the defaults for fields that are not given. */
export function wholeHooks({ webhook_settings: hooks }: Value, { config }: ConfigurationState["defaults"]): Value {
  const { host_status_webhook: status } = hooks as Value;
  if (!isRecord(status)) return hooks as Value;
  const schema = orgSections.webhook_settings.shape.host_status_webhook!;
  const base = objectIn(config.webhook_settings, "host_status_webhook");
  return { ...(hooks as Value), host_status_webhook: overlay(schema, base, status) };
}

export function desiredTeam(team: FileScope, current: Current): Thing[] {
  const { defaults } = current.state;
  const owner = team.name!;
  const { settings, controls, agentOptions: options } = team.says;
  const description = settings?.description ?? objectIn({ it: current.value("team", null, owner) }, "it").description;
  const base = defaults.team_settings as Value;
  const before = current.value("team_settings", owner) ?? base;
  const wanted: Record<string, unknown> = { ...over(TeamSettings, base, settings) };
  // Without team_settings, all settings are reset; if team_settings leaves this one out, it keeps its value.
  if (settings)
    wanted.host_expiry_settings = overlay(
      orgSections.host_expiry_settings,
      objectIn(before, "host_expiry_settings"),
      settings.host_expiry_settings,
    );
  wanted.webhook_settings = wholeHooks(wanted, defaults);
  wanted.mdm = withControls(TeamControls, objectIn(base, "mdm"), controls, objectIn(before, "mdm"));
  return [
    thing("team", null, owner, { description: description ?? "" }),
    thing("team_settings", owner, "team_settings", wanted),
    thing("agent_options", owner, "agent_options", options ? agentOptions(options) : null),
  ];
}

export const desiredNoTeam = (noTeam: FileScope | undefined, { state }: Current): Thing[] => [
  thing(
    "team_settings",
    NO_TEAM_NAME,
    "team_settings",
    overlay(NoTeamSettings, state.defaults.no_team_settings, noTeam?.says.settings),
  ),
];
