import { AgentOptions, type ConfigSections } from "../../../api/settings/app-config.ts";
import { isRecord } from "../../../text/record.ts";
import { may } from "../../platform/core/security/access.ts";
import { defaultAgentOptions, parseAgentOptions } from "./agent-options.ts";
import { type Section, section } from "./section.ts";
import { integrations } from "./sections/integrations.ts";
import { mdm } from "./sections/mdm.ts";
import {
  activityExpiry,
  desktop,
  features,
  gitops,
  hostExpiry,
  orgInfo,
  serverSettings,
  vulnerabilitySettings,
} from "./sections/organization.ts";
import { conditionalAccess, ssoSettings } from "./sections/sign-on.ts";
import { smtpSettings } from "./sections/smtp.ts";
import { webhookSettings } from "./sections/webhooks.ts";
import { yaraRules } from "./sections/yara.ts";

export const sections: { readonly [K in keyof ConfigSections]: Section<ConfigSections[K]> } = {
  org_info: orgInfo,
  server_settings: serverSettings,
  host_expiry_settings: hostExpiry,
  activity_expiry_settings: activityExpiry,
  features,
  smtp_settings: smtpSettings,
  sso_settings: ssoSettings,
  conditional_access: conditionalAccess,
  mdm,
  vulnerability_settings: vulnerabilitySettings,
  svc_desktop: desktop,
  gitops,
  integrations,
  webhook_settings: webhookSettings,
  agent_options: section({
    name: "agent_options",
    schema: AgentOptions,
    defaults: defaultAgentOptions,
    whole: true,
    // Some clients send the object with the `spec` wrapper of the `svc apply` documents.
    respell: (change) => (Object.keys(change).length === 1 && isRecord(change.spec) ? change.spec : change),
    checkInput: (change, { force }) => void parseAgentOptions(change, { force, at: "agent_options" }),
    visibleTo: (user) => may(user, "config:read_secrets", null),
  }),
  yara_rules: yaraRules,
};

export const allSections: readonly Section[] = Object.values(sections);
