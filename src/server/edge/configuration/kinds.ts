// Every kind of configuration that the server knows.
import type { ThingKey } from "../../../api/edge/configuration.ts";
import { inLockOrder } from "../../platform/store/locks.ts";
import type { Kind } from "./kind.ts";
import { agentOptions } from "./kinds/agent-options.ts";
import { bootstrapPackage } from "./kinds/bootstrap-package.ts";
import { certificateAuthority } from "./kinds/certificate-authority/kind.ts";
import { certificateTemplate } from "./kinds/certificate-template/kind.ts";
import { config } from "./kinds/config/kind.ts";
import { configurationProfile } from "./kinds/configuration-profile/kind.ts";
import { customHostVital } from "./kinds/custom-host-vital.ts";
import { customVariable } from "./kinds/custom-variable/kind.ts";
import { declarationAsset } from "./kinds/declaration-asset.ts";
import { directoryCredentials } from "./kinds/directory-credentials/kind.ts";
import { enrollSecrets } from "./kinds/enroll-secrets/kind.ts";
import { label } from "./kinds/label/kind.ts";
import { licenseAgreement } from "./kinds/license-agreement.ts";
import { licenseToken } from "./kinds/license-token.ts";
import { darkLogo, lightLogo } from "./kinds/logo.ts";
import { pack } from "./kinds/pack.ts";
import { packageKind } from "./kinds/package/kind.ts";
import { policy } from "./kinds/policy/kind.ts";
import { portalToken } from "./kinds/portal-token.ts";
import { query } from "./kinds/query/kind.ts";
import { script } from "./kinds/script/kind.ts";
import { setupAssistant } from "./kinds/setup-assistant/kind.ts";
import { setupOrder } from "./kinds/setup-order/kind.ts";
import { setupScript } from "./kinds/setup-script/kind.ts";
import { storeApp } from "./kinds/store-app/kind.ts";
import { team } from "./kinds/team/kind.ts";
import { teamSettings } from "./kinds/team-settings/kind.ts";

/** In the order in which they depend on each other: an apply writes in this order and deletes backwards. */
export const kinds: readonly Kind[] = [
  config,
  certificateAuthority,
  directoryCredentials,
  customHostVital,
  label,
  team,
  customVariable,
  agentOptions,
  teamSettings,
  enrollSecrets,
  portalToken,
  licenseToken,
  licenseAgreement,
  darkLogo,
  lightLogo,
  setupAssistant,
  bootstrapPackage,
  declarationAsset,
  configurationProfile,
  certificateTemplate,
  script,
  setupScript,
  packageKind,
  storeApp,
  setupOrder,
  policy,
  query,
  pack,
];

const byName = new Map(kinds.map((kind) => [kind.name, kind]));

/** Requests with unknown kinds are refused first. */
export const configurationKind = ({ kind }: Pick<ThingKey, "kind">): Kind => byName.get(kind)!;
export const isKnown = ({ kind }: Pick<ThingKey, "kind">): boolean => byName.has(kind);

/** The locks of everything that an apply may write. */
export const locks = inLockOrder([
  "users",
  "config",
  "enroll_secrets",
  "teams",
  ...kinds.flatMap(({ lock }) => (lock === undefined ? [] : [lock])),
]);
