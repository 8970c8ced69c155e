// Rules that involve several sections.
import type { ConfigSections, Integrations } from "../../../api/settings/app-config.ts";
import type { FieldError } from "../../platform/core/errors.ts";
import type { SectionValues } from "./change.ts";
import { deviceUrlProblems } from "./device-urls.ts";
import { under } from "./sections/rules.ts";
import { mailServerProblems } from "./sections/webhooks.ts";

type Switch = readonly [path: string, on: boolean];

const ticketing = (
  integrations: Integrations,
  flag: "enable_software_vulnerabilities" | "enable_failing_policies",
): Switch[] =>
  (["ticketing_a", "ticketing_b"] as const).flatMap((list) =>
    integrations[list].map((entry, i): Switch => [`integrations.${list}.${i}.${flag}`, entry[flag]]),
  );

/**
 * At most one automation of a kind may be enabled. The error is reported for the last enabled one in a section that
 * this change sets.
 */
function onlyOne(kind: string, switches: readonly Switch[], change: Record<string, unknown>): FieldError[] {
  const on = switches.filter(([, enabled]) => enabled).map(([path]) => path);
  if (on.length < 2) return [];
  const name = on.findLast((path) => change[path.split(".")[0]!] !== undefined);
  if (name === undefined) return [];
  const others = on.filter((path) => path !== name).join(", ");
  return [{ name, reason: `only one ${kind} automation can be enabled at a time; already enabled: ${others}` }];
}

/** `serverUrl`: that of the server's own settings, which counts while the configuration has none. */
export function betweenSections(
  { before, after, change }: { before: SectionValues; after: SectionValues; change: Record<string, unknown> },
  serverUrl: string,
): FieldError[] {
  const sections = sectionsOf(after);
  const { webhook_settings: hooks, integrations, conditional_access: access } = sections;
  const { vulnerabilities_webhook: vulnerabilities, failing_policies_webhook: failing } = hooks;
  const errors = [
    ...onlyOne(
      "vulnerability",
      [
        [
          "webhook_settings.vulnerabilities_webhook.enable_vulnerabilities_webhook",
          vulnerabilities.enable_vulnerabilities_webhook,
        ],
        ...ticketing(integrations, "enable_software_vulnerabilities"),
      ],
      change,
    ),
    ...onlyOne(
      "failing policies",
      [
        [
          "webhook_settings.failing_policies_webhook.enable_failing_policies_webhook",
          failing.enable_failing_policies_webhook,
        ],
        ...ticketing(integrations, "enable_failing_policies"),
      ],
      change,
    ),
  ];
  errors.push(...mailProblems(sectionsOf(before), sections, change));
  if (integrations.conditional_access_enabled && !isConnected(access))
    errors.push({
      name: "integrations.conditional_access_enabled",
      reason: "needs conditional_access to be configured",
    });
  return [...errors, ...deviceUrlProblems(sectionsOf(before), sections, serverUrl)];
}

/** Reported for the setting that this change sets: mails are turned on, or the mail server off. */
function mailProblems(before: ConfigSections, after: ConfigSections, change: Record<string, unknown>): FieldError[] {
  const of = ({ webhook_settings, smtp_settings }: ConfigSections): FieldError[] =>
    mailServerProblems(webhook_settings.failing_policies_mail, smtp_settings);
  const problems = of(after);
  if (problems.length === 0) return [];
  if (change.webhook_settings !== undefined) return under("webhook_settings.failing_policies_mail", problems);
  const reason = "failing policies are mailed: turn off webhook_settings.failing_policies_mail first";
  return of(before).length === 0 ? [{ name: "smtp_settings.enable_smtp", reason }] : [];
}

const sectionsOf = (values: SectionValues) => Object.fromEntries(values) as unknown as ConfigSections;

export const isConnected = (access: ConfigSections["conditional_access"]): boolean =>
  access.directory_connection_configured || access.provider_idp_id !== "";
