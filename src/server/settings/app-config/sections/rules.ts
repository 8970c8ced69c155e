// Rules shared by sections and team settings. Each returns the reason of the violation, or null.
import { isHttpUrl, isServerUrl, NO_SERVER_URL } from "../../../../text/urls.ts";
import type { FieldError } from "../../../platform/core/errors.ts";

const isThisMachine = (hostname: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);

/** Devices connect by https; http is for tests on this machine. */
export const isForDevices = ({ protocol, hostname }: URL): boolean => protocol === "https:" || isThisMachine(hostname);

/** Empty, or a URL that is safe to open in a browser: no scheme that executes scripts. */
const isLink = (text: string): boolean => text === "" || /^(https?|file|mailto):/i.test(text);

type Texts<K extends string> = { readonly [N in K]: string };

export const badLinks = <K extends string>(value: Texts<K>, names: readonly K[]): FieldError[] =>
  names
    .filter((name) => !isLink(value[name]))
    .map((name) => ({ name, reason: "must be a URL (http, https, file or mailto)" }));

/** Checks URLs that may be empty. */
export const badUrls = <K extends string>(value: Texts<K>, names: readonly K[]): FieldError[] =>
  names
    .filter((name) => value[name] !== "" && !isHttpUrl(value[name]))
    .map((name) => ({ name, reason: "must be an http or https URL" }));

/** Checks URLs of this server, which may be empty. */
export const badServerUrls = <K extends string>(value: Texts<K>, names: readonly K[]): FieldError[] =>
  names
    .filter((name) => value[name] !== "" && !isServerUrl(value[name]))
    .map((name) => ({ name, reason: NO_SERVER_URL }));

/** Checks fields that must not be empty. `what` is their purpose, for the message. */
export const missing = <K extends string>(value: Texts<K>, names: readonly K[], what: string): FieldError[] =>
  names.filter((name) => value[name].trim() === "").map((name) => ({ name, reason: `is required to ${what}` }));

export const under = (prefix: string, errors: readonly FieldError[]): FieldError[] =>
  errors.map(({ name, reason }) => ({ name: `${prefix}.${name}`, reason }));

/** 100 years. Longer windows lead to dates that cannot be represented. */
const MAX_EXPIRY_DAYS = 36_500;

/** Checks an expiry window, of the organization's or of a team's settings. */
export function expiryProblem(enabled: boolean, window: number): string | null {
  if (enabled && window <= 0) return "must be greater than 0 when expiry is enabled";
  if (window < 0) return "must not be negative";
  return window > MAX_EXPIRY_DAYS ? `must not be more than ${MAX_EXPIRY_DAYS} days` : null;
}

export const noHostExpiry = { host_expiry_enabled: false, host_expiry_window: 0 };
