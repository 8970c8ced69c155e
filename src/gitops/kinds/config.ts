// Settings of the organization, one object per section.
import { z } from "zod";
import { YARA_RULES_MAX, YaraRule } from "../../api/settings/app-config.ts";
import { isRecord } from "../../text/record.ts";
import { overControls, withControls } from "../desired/controls.ts";
import type { DocumentRun, Run } from "../desired/run.ts";
import { objectIn, overlaid, thing } from "../desired/values.ts";
import { controlsOf, type Fields, fieldsOf, isOrgMdm, pick } from "../export/fields.ts";
import type { ExportedSections, ExportScope } from "../export/scope.ts";
import type { Value } from "../files/overlay.ts";
import { checkOrgSettings } from "../files/rules.ts";
import { readSpec } from "../files/spec.ts";
import type { YaraText } from "../files/yara.ts";
import { coversPath, isOfTeam, settingTypes } from "../plan/activities.ts";
import type { Thing } from "../plan/diff.ts";
import { spelled, spellingsOf, unwrapped } from "../schema/loosen.ts";
import {
  AgentOptionsFile,
  GlobalControls,
  keptSections,
  OrgSettings,
  orgMdmKeys,
  orgSections,
} from "../schema/settings.ts";
import type { Kind } from "./kind.ts";

const section = (name: string, value: Value): Thing => thing("config", null, value, name);

/** The server's form: texts by name. */
const yaraValue = (rules: readonly YaraText[]): Value =>
  Object.fromEntries(rules.map(({ name, contents }) => [name, contents]));

/** The form in which the server stores values: blanks around texts are removed, and each key has one spelling. */
function asKept(name: string, value: Value): Value {
  if (name === "org_info") {
    const { org_logo_path_dark_mode: _dark, org_logo_path_light_mode: _light, ...info } = value;
    return info;
  }
  if (name === "mdm") return { ...value, end_user_authentication: trimmed(objectIn(value, "end_user_authentication")) };
  if (name === "sso_settings" || name === "conditional_access") return trimmed(value);
  if (name !== "smtp_settings") return value;
  const types: Readonly<Record<string, string>> = {
    authtype_username_password: "authtype_username_and_password",
    authtype_none: "none",
  };
  const type = String(value.authentication_type);
  return { ...value, authentication_type: Object.hasOwn(types, type) ? types[type] : type };
}

const trimmed = (value: Value): Value =>
  Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, typeof field === "string" ? field.trim() : field]),
  );

function desired({ global, noTeam, current, hasAllControls }: Run): Thing[] {
  if (!global) return [];
  const { defaults } = current.state;
  const settings = global.values.settings ?? {};
  const sections = Object.entries(orgSections).flatMap(([name, schema]) => {
    const input = settings[name];
    const isKept = keptSections.has(name);
    if (isKept && !isRecord(input)) return [];
    const base = (isKept ? current.value("config", null, name) : undefined) ?? defaults.config[name];
    const value = asKept(name, overlaid(schema, base, input));
    return [section(name, name === "org_info" ? withLogos(value, global.named, current) : value)];
  });
  // Where no file has controls, the defaults apply.
  const controls = global.values.controls ?? noTeam?.values.controls ?? (hasAllControls ? {} : undefined);
  const mdm = section("mdm", desiredMdm(objectIn(settings, "mdm"), controls, current));
  return [...sections, mdm, section("yara_rules", yaraValue(global.yaraRules))];
}

/** The server determines the address of a logo that is a file. */
function withLogos(info: Value, named: NonNullable<Run["global"]>["named"], current: Run["current"]): Value {
  const before = fieldsOf(current.value("config", null, "org_info"));
  const addresses = Object.entries(logoAddresses).filter(([kind]) => named[kind] !== undefined);
  return { ...info, ...Object.fromEntries(addresses.map(([, key]) => [key, before[key] ?? ""])) };
}

/** The settings with the addresses of logos, by the kinds of their files. */
const logoAddresses = { logo_dark: "org_logo_url", logo_light: "org_logo_url_light_background" } as const;

function desiredMdm(org: Value, controls: Value | null | undefined, current: Run["current"]): Value {
  const base = current.state.defaults.config.mdm as Value;
  const before = (current.value("config", null, "mdm") ?? base) as Value;
  // The one file that could define the controls may have been skipped.
  const start = controls ? base : { ...before, ...pick(base as Fields, isOrgMdm) };
  const value = asKept("mdm", overlaid(OrgSettings.shape.mdm!, start, org));
  return controls ? withControls(GlobalControls, value, controls, before) : value;
}

const Mdm = spelled(
  {
    ...GlobalControls.shape,
    ...Object.fromEntries(
      orgMdmKeys.map((key) => [key, (unwrapped(OrgSettings.shape.mdm!) as z.ZodObject).shape[key] as z.ZodType]),
    ),
  },
  spellingsOf(GlobalControls),
);
/** Fields of replies that are not settings; they are ignored. */
const ignored = ["license", "logging", "update_interval", "vulnerabilities", "scripts"];
const ConfigSpec = z.strictObject({
  ...Object.fromEntries(Object.entries(orgSections).map(([name, schema]) => [name, schema.nullish()])),
  ...Object.fromEntries(ignored.map((key) => [key, z.json().optional()])),
  agent_options: AgentOptionsFile.nullish(),
  mdm: Mdm.nullish(),
  yara_rules: z
    .array(z.strictObject(YaraRule.shape))
    .max(YARA_RULES_MAX)
    .refine((rules) => new Set(rules.map(({ name }) => name)).size === rules.length, { error: "names must be unique" })
    .nullish(),
});

const ofDocuments = ({ current, ofOrganization }: DocumentRun): Thing[] =>
  ofOrganization.flatMap(({ settings }) =>
    Object.entries(settings).flatMap(([name, input]) => {
      if (name === "yara_rules" && Array.isArray(input)) return [section(name, yaraValue(input as YaraText[]))];
      const before = current.value("config", null, name) ?? current.state.defaults.config[name];
      if (name === "mdm" && isRecord(input)) {
        const base = overlaid(OrgSettings.shape.mdm!, before, input);
        return [section(name, asKept(name, overControls(GlobalControls, base, input)))];
      }
      const schema = orgSections[name as keyof typeof orgSections] as z.ZodType | undefined;
      return schema && isRecord(input) ? [section(name, asKept(name, overlaid(schema, before, input)))] : [];
    }),
  );

function exported({ file, objects, addFile }: ExportScope): ExportedSections {
  if (file !== "global") return {};
  const all = objects.all(null, "config").map(({ name, value }) => [name, fieldsOf(value)] as const);
  const { mdm, yara_rules: yara = {}, ...sections } = Object.fromEntries(all);
  const isFile = (key: string) =>
    Object.entries(logoAddresses).some(([kind, address]) => address === key && objects.all(null, kind).length > 0);
  const info = Object.entries(sections.org_info ?? {}).filter(([key]) => !isFile(key));
  for (const [name, contents] of Object.entries(yara)) addFile(`lib/yara/${name}`, String(contents));
  return {
    settings: {
      ...sections,
      ...(sections.org_info ? { org_info: Object.fromEntries(info) } : {}),
      ...(mdm ? { mdm: pick(mdm, isOrgMdm) } : {}),
      yara_rules: Object.keys(yara)
        .sort()
        .map((name) => ({ path: `lib/yara/${name}` })),
    },
    ...(mdm ? { controls: controlsOf(mdm) } : {}),
  };
}

export const config: Kind = {
  noun: "settings",
  document: {
    kind: "config",
    isSingle: true,
    read(spec, reading) {
      const read = readSpec(ConfigSpec, spec, "spec", reading, checkOrgSettings);
      return read && { ...read, name: null };
    },
  },
  desired,
  ofDocuments,
  exported,
  typesOf: ({ name }) => ["edited_config", ...settingTypes(name)],
  isAbout: (details, type, { name, fields }) => {
    const paths = fields.map(({ path }) => (path === "" ? name : `${name}.${path}`));
    return isOfTeam(details, null) && coversPath(details, type, paths);
  },
};
