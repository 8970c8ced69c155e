// Sections of the configuration, including the global agent options.

import { MASK } from "../../../../../api/fields.ts";
import { secretPaths } from "../../../../../api/secret-fields.ts";
import type { ConfigSections, WebhookSettings, YaraRules } from "../../../../../api/settings/app-config.ts";
import { isRecord } from "../../../../../text/record.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { ApiError, invalid } from "../../../../platform/core/errors.ts";
import { getPath, without, withPath } from "../../../../settings/app-config/merge.ts";
import type { Section } from "../../../../settings/app-config/section.ts";
import { allSections, sections } from "../../../../settings/app-config/sections.ts";
import { sectionsAfter } from "../../../../settings/app-config/service.ts";
import { type RequestedChange, refusal, type Step } from "../../changes.ts";
import { KEPT, Secret, secretFrom, type Texts, type Thing } from "../../values.ts";

const AGENT_OPTIONS = sections.agent_options.name;

const YARA_RULES = sections.yara_rules.name;

/**
 * The policies that the webhook reports. Omitted from the section's value, because each policy object contains its
 * own flag.
 */
const POLICY_IDS = "failing_policies_webhook.policy_ids";

const GITOPS = sections.gitops.name;
/** Says what people change by hand, so it is not in files either. */
const EXCEPTIONS = "exceptions";

/** The agent options are a section with a kind of their own. */
export const configThings = (values: ReadonlyMap<string, object>): Thing[] =>
  allSections
    .filter(({ name }) => name !== AGENT_OPTIONS)
    .map((section) => ({
      kind: "config",
      owner: null,
      name: section.name,
      value: sectionThing(section, values.get(section.name)!),
    }));

/** The defaults of the sections that are objects of kind `config`. */
export const configDefaults = (): Record<string, unknown> =>
  Object.fromEntries(
    allSections
      .filter(({ name }) => name !== AGENT_OPTIONS)
      .map((section) => [section.name, sectionThing(section, section.defaults)]),
  );

function sectionThing(section: Section, value: object): object {
  // By name, so that a plan shows which rules change.
  if (section.name === YARA_RULES)
    return Object.fromEntries((value as YaraRules).map(({ name, contents }) => [name, contents]));
  const visible = omittedPaths(section).reduce((rest, path) => without(rest, path) as object, value);
  return secretPaths(section, visible).reduce((rest, path) => {
    const secret = getPath(rest, path);
    if (secret === "" || secret === null || secret === undefined) return rest;
    return withPath(rest, path, new Secret(typeof secret === "string" ? secret : JSON.stringify(secret)));
  }, visible);
}

/** Paths of a section that its object does not contain. */
const omittedPaths = ({ name, returned }: Section): readonly string[] => {
  const others = name === sections.webhook_settings.name ? [POLICY_IDS] : name === GITOPS ? [EXCEPTIONS] : [];
  return [...Object.keys(returned), ...others];
};

/**
 * The value in the form of PATCH /config. Only secrets are checked here; everything else is checked when the section
 * is changed.
 */
export function readSection(change: RequestedChange, texts: Texts): unknown {
  const section = allSections.find(({ name }) => name === change.name);
  if (!section || (section.name === AGENT_OPTIONS) !== (change.kind === "agent_options"))
    throw invalid("change.name", "unknown section");
  if (section.name === AGENT_OPTIONS) return change.value ?? section.defaults;
  const { value } = change;
  if (!isRecord(value)) throw invalid("value", "must be an object");
  if (section.name === YARA_RULES) return Object.entries(value).map(([name, contents]) => ({ name, contents }));
  for (const path of omittedPaths(section))
    if (getPath(value, path) !== undefined) throw invalid(path, "cannot be given here");
  return secretPaths(section, value).reduce((rest, path) => {
    const secret = secretFrom(getPath(value, path), texts, path.join("."));
    return withPath(rest, path, secret === KEPT ? MASK : secret);
  }, value);
}

/** All sections after the changes. Errors name the change. */
export function sectionsChanged(
  ctx: Context,
  before: ReadonlyMap<string, object>,
  steps: readonly Step<unknown>[],
): Map<string, object> {
  if (steps.length === 0) return new Map(before);
  try {
    return sectionsAfter(ctx, before, desiredSections(before, steps), optionsOf(steps));
  } catch (error) {
    throw error instanceof ApiError ? namingSections(error, steps) : error;
  }
}

/** The body for a change of the configuration. */
export function desiredSections(
  before: ReadonlyMap<string, object>,
  steps: readonly Step<unknown>[],
): Record<string, unknown> {
  return Object.fromEntries(
    steps.map(({ name, desired }) => {
      if (name === GITOPS && isRecord(desired)) {
        const { exceptions } = before.get(name) as ConfigSections["gitops"];
        return [name, { ...desired, exceptions }];
      }
      if (name !== sections.webhook_settings.name || !isRecord(desired)) return [name, desired];
      const { failing_policies_webhook: existingWebhook } = before.get(name) as WebhookSettings;
      const hook = desired.failing_policies_webhook;
      // A value that is not an object is refused later, when the section is changed.
      const whole = isRecord(hook) || hook === undefined ? { ...hook, policy_ids: existingWebhook.policy_ids } : hook;
      return [name, { ...desired, failing_policies_webhook: whole }];
    }),
  );
}

export const optionsOf = (steps: readonly Step<unknown>[]) => ({
  force: false,
  overwrite: new Set(steps.map(({ name }) => name)),
});

/** Finds the change of each error by the section name with which the field's name begins. */
export function namingSections(error: ApiError, steps: readonly Step<unknown>[]): ApiError {
  const errors = error.errors.flatMap(({ name, reason }) => {
    const [section, ...rest] = name.split(".");
    const step = steps.find((candidate) => candidate.name === section) ?? steps[0];
    if (!step) return [{ name, reason }];
    const at = step.name === section ? rest.join(".") || "base" : name;
    return refusal(step, new ApiError(error.status, error.message, [{ name: at, reason }])).errors;
  });
  return new ApiError(error.status, error.message, errors);
}
