// Variables in texts of users: $SVC_SECRET_NAME and $SVC_HOST_VITAL_ID, with or without braces.

const VARIABLE = /\$(?:\{SVC_((?:SECRET|HOST_VITAL)_[A-Za-z0-9_]+)\}|SVC_((?:SECRET|HOST_VITAL)_[A-Za-z0-9_]+))/g;

const SECRET = "SECRET_";
const VITAL = "HOST_VITAL_";

/** What a text has between the dollar sign and the value: `SECRET_NAME` or `HOST_VITAL_ID`. */
export type VariableKey = string;

export const secretKey = (name: string): VariableKey => SECRET + name;
export const vitalKey = (id: number): VariableKey => `${VITAL}${id}`;

/** The name of the secret; null if it is none. */
export const secretOf = (key: VariableKey): string | null => (key.startsWith(SECRET) ? key.slice(SECRET.length) : null);

/** The id of the host vital; null if it is none. */
export function vitalOf(key: VariableKey): number | null {
  const id = key.startsWith(VITAL) ? key.slice(VITAL.length) : "";
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : null;
}

/** The variable in the spelling of users. */
export const written = (key: VariableKey): string => `$SVC_${key}`;

/** The variables in the text, each as often as it occurs. The first test is much faster than the search. */
export const variablesIn = (text: string): VariableKey[] =>
  !text.includes("SVC_") ? [] : Array.from(text.matchAll(VARIABLE), ([, braced, bare]) => (braced ?? bare)!);

/** Replaces the variables in one pass, so that a value that looks like a variable stays as it is. */
export const replaceVariables = (text: string, replaced: (key: VariableKey) => string): string =>
  text.replace(VARIABLE, (_, braced?: string, bare?: string) => replaced((braced ?? bare)!));
