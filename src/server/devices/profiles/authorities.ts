// Variables of certificate authorities in profiles, by which devices get certificates. Each comes with another one:
// an address needs its challenge, a key its password.
import type { CaType } from "../../../api/certificates/ca.ts";

interface Kind {
  readonly type: CaType;
  /** Before the name of the authority. Without an underscore at the end, there is only one of the type. */
  readonly prefixes: readonly [string, string];
  /** The device enrolls through this server's SCEP proxy; otherwise the profile contains key and certificate. */
  readonly isProxy: boolean;
  /** Good for one certificate, and requested from the authority when the device gets the profile. */
  readonly isOneTime: boolean;
}

const kinds: readonly Kind[] = [
  {
    type: "custom_scep_proxy",
    prefixes: ["VAR_CUSTOM_SCEP_PROXY_URL_", "VAR_CUSTOM_SCEP_CHALLENGE_"],
    isProxy: true,
    isOneTime: false,
  },
  {
    type: "directory_scep_proxy",
    prefixes: ["VAR_DIRECTORY_SCEP_PROXY_URL", "VAR_DIRECTORY_SCEP_CHALLENGE"],
    isProxy: true,
    isOneTime: true,
  },
  {
    type: "hosted_scep_ca",
    prefixes: ["VAR_HOSTED_SCEP_PROXY_URL_", "VAR_HOSTED_SCEP_CHALLENGE_"],
    isProxy: true,
    isOneTime: true,
  },
  {
    type: "hosted_ca_a",
    prefixes: ["VAR_HOSTED_CA_A_DATA_", "VAR_HOSTED_CA_A_PASSWORD_"],
    isProxy: false,
    isOneTime: true,
  },
];
const byType = new Map(kinds.map((kind) => [kind.type, kind]));

interface AuthorityVariable {
  readonly type: CaType;
  readonly authority: string;
  /** 0: the address, or the key with its certificate. 1: the challenge, or the password of the key. */
  readonly part: 0 | 1;
}

/** What the variable is about; null: about no authority. */
export function authorityVariable(name: string): AuthorityVariable | null {
  for (const { type, prefixes } of kinds)
    for (const part of [0, 1] as const) {
      const prefix = prefixes[part];
      if (!prefix.endsWith("_")) {
        if (name === prefix) return { type, authority: type, part };
      } else if (name.startsWith(prefix) && name.length > prefix.length)
        return { type, authority: name.slice(prefix.length), part };
    }
  return null;
}

/** The names of both variables of an authority. */
export const variablesOf = (type: CaType, authority: string): readonly string[] =>
  (byType.get(type)?.prefixes ?? []).map((prefix) => (prefix.endsWith("_") ? prefix + authority : prefix));

export const isProxied = (type: CaType): boolean => byType.get(type)?.isProxy ?? false;

/** Whether the value is requested from the authority when the device gets the profile. */
export function isRequested(name: string): boolean {
  const variable = authorityVariable(name);
  const kind = variable && byType.get(variable.type);
  return variable !== null && kind?.isOneTime === true && (variable.part === 1 || !kind.isProxy);
}
