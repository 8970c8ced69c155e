// Every kind of configuration that files can contain.

import type { Json } from "../text/differences.ts";
import { isRecord } from "../text/record.ts";
import type { SoftwareList } from "./files/software.ts";
import { agentOptions } from "./kinds/agent-options.ts";
import { certificateAuthority } from "./kinds/certificate-authority.ts";
import { certificateTemplate } from "./kinds/certificate-template.ts";
import { config } from "./kinds/config.ts";
import { configurationProfile } from "./kinds/configuration-profile.ts";
import { customHostVital } from "./kinds/custom-host-vital.ts";
import { customVariable } from "./kinds/custom-variable.ts";
import { declarationAsset } from "./kinds/declaration-asset.ts";
import { directoryCredentials } from "./kinds/directory-credentials.ts";
import { enrollSecrets } from "./kinds/enroll-secrets.ts";
import type { Items, Kind } from "./kinds/kind.ts";
import { label } from "./kinds/label.ts";
import { licenseToken } from "./kinds/license-token.ts";
import { darkLogo, lightLogo } from "./kinds/logo.ts";
import { pack } from "./kinds/pack.ts";
import { packageKind } from "./kinds/package.ts";
import { policy } from "./kinds/policy.ts";
import { portalToken } from "./kinds/portal-token.ts";
import { query } from "./kinds/query.ts";
import { script } from "./kinds/script.ts";
import { setupAssistant } from "./kinds/setup/assistant.ts";
import { bootstrapPackage } from "./kinds/setup/bootstrap-package.ts";
import { licenseAgreement } from "./kinds/setup/license-agreement.ts";
import { setupOrder } from "./kinds/setup/order.ts";
import { setupScript } from "./kinds/setup/script.ts";
import { storeApp } from "./kinds/store-app.ts";
import { team } from "./kinds/team.ts";
import { teamSettings } from "./kinds/team-settings.ts";
import { compareTexts } from "./plan/values.ts";

/** By name, in the order in which they depend on each other: plans list changes in this order. */
export const kinds: Readonly<Record<string, Kind>> = {
  config,
  certificate_authority: certificateAuthority,
  directory_credentials: directoryCredentials,
  custom_host_vital: customHostVital,
  label,
  team,
  custom_variable: customVariable,
  agent_options: agentOptions,
  team_settings: teamSettings,
  enroll_secrets: enrollSecrets,
  portal_token: portalToken,
  license_token: licenseToken,
  license_agreement: licenseAgreement,
  logo_dark: darkLogo,
  logo_light: lightLogo,
  setup_assistant: setupAssistant,
  bootstrap_package: bootstrapPackage,
  declaration_asset: declarationAsset,
  configuration_profile: configurationProfile,
  certificate_template: certificateTemplate,
  script,
  setup_script: setupScript,
  package: packageKind,
  store_app: storeApp,
  setup_order: setupOrder,
  policy,
  query,
  pack,
};

export const kindList: readonly (readonly [string, Kind])[] = Object.entries(kinds);
export const kindNames = Object.keys(kinds);

/** Objects of all other kinds are a part of their owner. */
export const isDeletable = (kind: string): boolean => Boolean(kinds[kind]?.items ?? kinds[kind]?.isComplete);

/** The kinds that stand in lists, in the order in which files are checked. */
export const itemKinds: readonly { readonly kind: string; readonly noun: string; readonly items: Items }[] =
  kindList.flatMap(([kind, { noun, items }]) => (items ? [{ kind, noun, items }] : []));

/** Kinds whose lists are at the top level of main files. */
export const listKinds = itemKinds.filter(({ items }) => !items.files && !items.software);

/** Kinds whose lists are in the section `software`. */
export const softwareLists: readonly (readonly [kind: string, lists: readonly SoftwareList[]])[] = itemKinds.flatMap(
  ({ kind, items: { software } }) => (software ? [[kind, software] as const] : []),
);

const isOfNewTeam = (entry: [string, Kind]): entry is [string, Kind & { readonly ofNewTeam: Json }] =>
  entry[1].ofNewTeam !== undefined;

/** What a new team has before the files are applied. Its settings exist too, but depend on the organization's. */
export const ofNewTeam = Object.entries(kinds)
  .filter(isOfNewTeam)
  .map(([kind, { ofNewTeam: value }]) => ({ kind, value }));

/** The value with its lists in one order where their order has no meaning. */
export function inAnyOrder(kind: string, value: Json): Json {
  const unordered = kinds[kind]?.unordered;
  if (unordered === undefined || !isRecord(value)) return value;
  const list = value[unordered];
  if (!Array.isArray(list)) return value;
  const texts = new Map(list.map((element): [Json, string] => [element, JSON.stringify(element)]));
  return { ...value, [unordered]: list.toSorted((a, b) => compareTexts(texts.get(a)!, texts.get(b)!)) };
}
