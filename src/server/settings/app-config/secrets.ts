// Secrets of a section: where they are, how they are masked, and how a mask that is sent back is resolved.

import { isDeepStrictEqual } from "node:util";
import { isMask, MASK } from "../../../api/fields.ts";
import { type SecretFields, secretPaths } from "../../../api/secret-fields.ts";
import { isRecord } from "../../../text/record.ts";
import { badRequest, type FieldError } from "../../platform/core/errors.ts";
import { getPath, withPath } from "./merge.ts";
import type { Section } from "./section.ts";

const isEmpty = (secret: unknown): boolean => secret === "" || secret === null || secret === undefined;

export const masked = (section: SecretFields, value: object): object =>
  secretPaths(section, value).reduce(
    (left, path) => (isEmpty(getPath(left, path)) ? left : withPath(left, path, MASK)),
    value,
  );

/** Splits the section into the value without secrets, and the secrets by their paths. */
export function apart(section: SecretFields, value: object): { plain: object; secrets: [string[], unknown][] } {
  const secrets = secretPaths(section, value)
    .map((path): [string[], unknown] => [path, getPath(value, path)])
    .filter(([, secret]) => !isEmpty(secret));
  return { plain: secrets.reduce((left, [path]) => withPath(left, path, ""), value), secrets };
}

export const together = (plain: object, secrets: readonly (readonly [string[], unknown])[]): object =>
  secrets.reduce((left, [path, secret]) => withPath(left, path, secret), plain);

/** No stored section has this many secrets. */
const MAX_MASKS = 2_000;

/**
 * Replaces a mask that is sent back by the stored secret. In a list, by the secret of the entry with the same
 * identity.
 */
export function unmasked(section: Section, input: unknown, old: object): { input: unknown; errors: FieldError[] } {
  const errors: FieldError[] = [];
  const paths = secretPaths(section, input).filter((path) => isMask(getPath(input, path)));
  // Each replacement copies the whole input, which is not validated yet, so their number is limited.
  if (paths.length > MAX_MASKS) throw badRequest(`more than ${MAX_MASKS} secrets`, section.name);
  const result = paths.reduce((left, path) => {
    const from = pathInOld(section, input, old, path);
    const storedSecret = from === null ? undefined : getPath(old, from);
    const list = listAt(section, path);
    if (list && isEmpty(storedSecret)) errors.push({ name: path.join("."), reason: unknownMask(list[1]) });
    return withPath(left, path, storedSecret ?? "");
  }, input);
  return { input: result, errors };
}

const listAt = ({ entries }: Section, path: readonly string[]) =>
  Object.entries(entries).find(([list]) => path.join(".").startsWith(`${list}.`));

const unknownMask = (identity: readonly string[]): string =>
  `is a mask, but no entry has this ${identity.join(" and ")}: send the secret`;

/** The path of the secret in the old section: entries of lists may have moved. */
function pathInOld(section: Section, input: unknown, old: object, path: readonly string[]): readonly string[] | null {
  const place = listAt(section, path);
  if (!place) return path;
  const list = place[0].split(".");
  const [index, ...rest] = path.slice(list.length) as [string, ...string[]];
  const identity = (entry: unknown) => place[1].map((field) => getPath(entry, field));
  const sent = identity(getPath(input, [...list, index]));
  const olds = getPath(old, list);
  if (!Array.isArray(olds)) return null;
  const at = olds.findIndex((entry) => isRecord(entry) && isDeepStrictEqual(identity(entry), sent));
  return at === -1 ? null : [...list, String(at), ...rest];
}

/** Refuses to keep a stored secret if its recipient changes: the secret must be sent again. */
export function rebound(section: Section, input: unknown, value: object, old: object): FieldError[] {
  return Object.entries(section.boundTo).flatMap(([path, fields]) => {
    const storedSecret = getPath(old, path);
    const sent = getPath(input, path);
    if (isEmpty(storedSecret) || (sent !== undefined && !isMask(sent)) || getPath(value, path) !== storedSecret)
      return [];
    const moved = fields.filter((field) => getPath(value, field) !== getPath(old, field));
    // Without a recipient the secret is not sent anywhere, and setting one later is a change again.
    if (moved.length === 0 || isEmpty(getPath(value, fields[0]!))) return [];
    return [{ name: path, reason: `must be sent again: ${moved.join(" and ")} changed` }];
  });
}
