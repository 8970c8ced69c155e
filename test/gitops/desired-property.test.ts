// Complete files define the desired state, and a single different field produces exactly one difference.
import fc, { type Arbitrary } from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ConfigSections } from "../../src/api/settings/app-config.ts";
import { diff } from "../../src/gitops/plan/changes.ts";
import { movedSettings, valueAt, withoutValueAt, withValueAt } from "../../src/gitops/schema/moved.ts";
import { keptSections, orgMdmKeys } from "../../src/gitops/schema/settings.ts";
import { sections } from "../../src/server/settings/app-config/sections.ts";
import { asYaml, credentialsFrom, defaults, stateWith, thing } from "../support/gitops-files.ts";

type Value = Record<string, unknown>;

function unwrapped(schema: z.ZodType): z.ZodType {
  const { def } = schema;
  return "innerType" in def ? unwrapped(def.innerType as z.ZodType) : schema;
}

const text = fc.string({ unit: "binary", maxLength: 20 }).map((one) => one.toWellFormed().replaceAll("\0", ""));
const key = fc.stringMatching(/^[a-z$]{1,6}$/);

/** Any value that the schema accepts, within its bounds. */
function anyOf(schema: z.ZodType): Arbitrary<unknown> {
  const { def } = schema;
  if (def.type === "nullable") return fc.option(anyOf((def as unknown as { innerType: z.ZodType }).innerType));
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject)
    return fc.record(
      Object.fromEntries(Object.entries(inner.shape).map(([name, field]) => [name, anyOf(field as z.ZodType)])),
    );
  if (inner instanceof z.ZodArray) return fc.array(anyOf(inner.element as z.ZodType), { maxLength: 3 });
  if (inner instanceof z.ZodRecord) return fc.dictionary(key, text);
  if (inner instanceof z.ZodString) return text;
  if (inner instanceof z.ZodEnum) return fc.constantFrom(...inner.options);
  if (inner instanceof z.ZodBoolean) return fc.boolean();
  if (inner instanceof z.ZodNumber) {
    const { minValue, maxValue } = inner;
    return fc.integer({ min: Math.max(1, minValue ?? 1), max: Math.min(100, maxValue ?? 100) });
  }
  throw new Error(`no values of ${inner.def.type}`);
}

const trim = (value: Value): Value =>
  Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typeof one === "string" ? one.trim() : one]));

/** The rules between the fields, and the server's normalization of a value. */
const kept: Readonly<Record<string, (value: Value) => Value>> = {
  sso_settings: (value) => trim({ ...value, enable_sso: false }),
  conditional_access: trim,
  // Exceptions are never in files.
  gitops: ({ exceptions: _, ...value }) => ({ ...value, repository_url: "https://git" }),
  features: (value) => ({
    ...value,
    vulnerability_exposure_historical_reporting: {
      ...(value.vulnerability_exposure_historical_reporting as Value),
      cvss_max: null,
      epss_max: null,
      exclude_vulnerabilities: ["CVE-2026-0001"],
    },
  }),
  smtp_settings: (value) => ({ ...value, authentication_type: "none", password: "" }),
  integrations: (value) => ({
    ...value,
    ticketing_a: (value.ticketing_a as Value[]).map((entry) => ({ ...entry, api_token: "" })),
    ticketing_b: (value.ticketing_b as Value[]).map((entry) => ({ ...entry, api_token: "" })),
    calendar: (value.calendar as Value[]).map(({ domain }) => ({ domain, api_key_json: { client_email: domain } })),
  }),
  webhook_settings: (value) => {
    const { policy_ids: _ids, ...failing } = value.failing_policies_webhook as Value;
    return { ...value, failing_policies_webhook: failing };
  },
  mdm: (value) => {
    const date = "2026-02-03";
    const update = (one: unknown) => ({
      ...(one as Value),
      minimum_version: "15.1",
      deadline: date,
      deadline_days: null,
    });
    return {
      ...value,
      windows_require_bitlocker_pin:
        ((value.disk_encryption as Value).windows ?? value.enable_disk_encryption) === true &&
        value.windows_require_bitlocker_pin === true,
      windows_migration_enabled: false,
      macos_migration: { enable: true, mode: "forced", webhook_url: "https://hook" },
      macos_updates: update(value.macos_updates),
      ios_updates: update(value.ios_updates),
      ipados_updates: { minimum_version: "latest", deadline: "", deadline_days: 7 },
      windows_updates: { deadline_days: 3, grace_period_days: 2 },
      end_user_authentication: trim(value.end_user_authentication as Value),
    };
  },
};

/** Fields of `mdm` that files cannot express have the server's values. */
const left = { macos_settings: { custom_settings: [] }, windows_settings: { custom_settings: [] } };
const mdmIn = (value: Value): Value => ({
  ...value,
  ...left,
  macos_setup: { ...(value.macos_setup as Value), bootstrap_package: "", macos_setup_assistant: "" },
});

// Rules stand in files otherwise than on the server: exports of generated ones are read back in export.test.ts.
const { agent_options: _options, yara_rules: _rules, ...shapes } = ConfigSections.shape;
const whole = (name: keyof typeof shapes): Arbitrary<Value> =>
  anyOf(shapes[name]).map((given) => {
    const { returned } = sections[name];
    const told = Object.fromEntries(
      Object.entries(given as Value).filter(([field]) => !Object.hasOwn(returned, field)),
    );
    const made = kept[name]?.(told) ?? told;
    return name === "mdm" ? mdmIn(made) : made;
  });
const everything = fc.record(
  Object.fromEntries((Object.keys(shapes) as (keyof typeof shapes)[]).map((name) => [name, whole(name)])),
);

function fileOf(values: Value): string {
  const { mdm, ...org } = values as Record<string, Value>;
  const isOrg = ([name]: [string, unknown]) => (orgMdmKeys as readonly string[]).includes(name);
  const setup = ({ bootstrap_package: _p, macos_setup_assistant: _a, ...rest }: Value) => rest;
  const controls = Object.fromEntries(
    Object.entries(mdm!).filter((entry) => !isOrg(entry) && !Object.hasOwn(left, entry[0])),
  );
  return asYaml({
    org_settings: { ...org, mdm: Object.fromEntries(Object.entries(mdm!).filter(isOrg)) },
    controls: inPlace({ ...controls, macos_setup: setup(controls.macos_setup as Value) }),
  });
}
/** Settings that have another place in files. */
const inPlace = (controls: Value): Value =>
  movedSettings.reduce<Value>((found, { setting, key: place }) => {
    const given = valueAt(found, setting);
    return { ...withValueAt(withoutValueAt(found, setting), place, given) };
  }, controls);
const asState = (values: Value) =>
  stateWith(Object.entries(values).map(([name, value]) => thing("config", null, name, value)));

describe("settings of the organization", () => {
  it("are the desired ones if files give them completely, whatever they were before", async () => {
    await fc.assert(
      fc.asyncProperty(everything, fc.boolean(), async (values, isThere) => {
        const { find, things, isComplete } = await credentialsFrom(
          { "d.yml": fileOf(values) },
          isThere ? asState(values) : undefined,
        );
        for (const [name, value] of Object.entries(values))
          expect([name, find("config", null, name)]).toEqual([name, value]);
        if (isThere) expect(diff(asState(values).things as never, things, isComplete)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it("are the defaults if files omit them, whatever they were before", async () => {
    await fc.assert(
      fc.asyncProperty(everything, async (values) => {
        const { find } = await credentialsFrom({ "d.yml": "org_settings: {}\ncontrols: {}\n" }, asState(values));
        for (const name of Object.keys(values))
          if (!keptSections.has(name)) expect(find("config", null, name)).toEqual(defaults.config[name]);
      }),
      { numRuns: 30 },
    );
  });

  it("with one different field show only this difference", async () => {
    await fc.assert(
      fc.asyncProperty(everything, fc.nat(), async (values, pick) => {
        const paths = leavesOf(values);
        const path = paths[pick % paths.length]!;
        const other = { ...values, [path[0]!]: withOther(values[path[0]!], path.slice(1)) };
        const { things, isComplete } = await credentialsFrom({ "d.yml": fileOf(values) }, asState(other));
        const changes = diff(asState(other).things as never, things, isComplete);
        expect(changes.map(({ name, fields }) => [name, fields.map((field) => field.path)])).toEqual([
          [path[0], [path.slice(1).join(".")]],
        ]);
      }),
      { numRuns: 60 },
    );
  });
});

/** Paths to fields that are not objects, except those that files cannot express. */
function leavesOf(value: unknown, path: readonly string[] = []): string[][] {
  const isNamed =
    typeof value === "object" && value !== null && !Array.isArray(value) && path.at(-1) !== "additional_queries";
  if (!isNamed) return [[...path]];
  return Object.entries(value)
    .filter(([name]) => !Object.hasOwn(left, name) && !["bootstrap_package", "macos_setup_assistant"].includes(name))
    .flatMap(([name, one]) => leavesOf(one, [...path, name]));
}

function withOther(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name !== undefined) return { ...(value as Value), [name]: withOther((value as Value)[name], rest) };
  if (typeof value === "boolean") return !value;
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return `${value}x`;
  if (value === null) return {};
  return Array.isArray(value) ? [...value, { other: true }] : null;
}
