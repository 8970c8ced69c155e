// Rules for authorities that need no network.
import {
  type Ca,
  type CaItem,
  type CaType,
  type ChangeCa,
  type CreateCa,
  caTypes,
  isSingle,
  secretFields,
  urlFields,
} from "../../../api/certificates/ca.ts";
import { isMask, MASK } from "../../../api/fields.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid, invalidFields, notFound } from "../../platform/core/errors.ts";
import { checkOutboundUrl, hasCredentials } from "../../platform/core/outbound/fetch.ts";
import { blockedFields } from "../../platform/core/outbound/fields.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { certificateAuthorities } from "./tables.ts";
import { unknownVariable } from "./variables.ts";

export type CaRow = RowOf<typeof certificateAuthorities>;
export type Settings = Readonly<Record<string, unknown>>;

/** An authority in the form in which it is stored. */
export interface DesiredAuthority {
  readonly type: CaType;
  readonly name: string;
  readonly settings: Settings;
  readonly secret: string;
}

/** The single object in the body, and its type. 422 for none, or for more than one. */
export function theObject(body: CreateCa | ChangeCa): { type: CaType; settings: Settings } {
  const [type, another] = caTypes.filter((caType) => body[caType] != null);
  if (!type) throw invalid("base", `one object is needed: ${caTypes.join(", ")}`);
  if (another) throw invalid(another, `only one object can be given: not ${type} and ${another}`);
  return { type, settings: body[type] as Settings };
}

/** A text field of the settings. Empty if the type has no such field. */
export const textIn = (settings: Settings, field: string): string => {
  const value = settings[field];
  return typeof value === "string" ? value : "";
};

/** Checks the given fields. A mask does not count as a secret. `prefix` is the path of the object in the body. */
export function authorityFrom(type: CaType, input: Settings, prefix: string = type): DesiredAuthority {
  const field = secretFields[type];
  const { name, [field]: secret, ...settings } = input;
  checkSettings(type, settings, prefix);
  if (typeof secret !== "string" || isMask(secret)) throw invalid(`${prefix}.${field}`, `${field} is required`);
  return { type, name: isSingle(type) ? type : String(name), settings, secret };
}

/**
 * Applies a change to the authority. 422 if a URL changes without its secret, because the old secret must not be sent
 * to a new URL.
 */
export function changed(row: CaRow, change: Settings, prefix: string = row.type): DesiredAuthority {
  const { type } = row;
  const field = secretFields[type];
  const { name, [field]: secret, ...rest } = change;
  const settings: Settings = { ...row.settings, ...rest };
  checkSettings(type, settings, prefix);
  const isKept = secret === undefined || isMask(secret);
  const moved = urlFields[type].find((url) => settings[url] !== row.settings[url]);
  if (moved && isKept) throw invalid(`${prefix}.${field}`, `${field} is required when ${moved} changes`);
  return {
    type,
    name: typeof name === "string" && !isSingle(type) ? name : row.name,
    settings,
    secret: isKept ? row.secret : String(secret),
  };
}

/** 422 if the server may not send requests to a new URL. Checked even if the live check is skipped. */
export async function checkAddresses(
  ctx: Pick<Context, "settings">,
  row: CaRow | undefined,
  { type, settings }: DesiredAuthority,
  prefix: string = type,
): Promise<void> {
  const errors = await blockedFields(ctx.settings, urlFields[type], row?.settings, settings);
  if (errors.length > 0) throw invalidFields(errors.map(({ name, reason }) => ({ name: `${prefix}.${name}`, reason })));
}

const withVariables = ["certificate_common_name", "certificate_user_principal_names", "certificate_seat_id"];

function checkSettings(type: CaType, settings: Settings, prefix: string): void {
  for (const field of urlFields[type]) {
    const problem = checkOutboundUrl(textIn(settings, field));
    if (problem) throw invalid(`${prefix}.${field}`, `${field} ${problem}`);
    if (hasCredentials(textIn(settings, field)))
      throw invalid(`${prefix}.${field}`, `${field} must not contain a user name or password`);
  }
  for (const field of withVariables)
    for (const text of [settings[field] ?? []].flat()) {
      const unknown = unknownVariable(String(text));
      if (unknown !== null) throw invalid(`${prefix}.${field}`, `${unknown} is not a variable that can be used here`);
    }
}

export const sameAs = (row: CaRow, { name, settings, secret }: DesiredAuthority): boolean =>
  row.name === name && row.secret === secret && sameSettings(row, settings);

const sameSettings = ({ settings: storedSettings }: CaRow, settings: Settings): boolean =>
  [...new Set([...Object.keys(storedSettings), ...Object.keys(settings)])].every(
    (field) => JSON.stringify(storedSettings[field]) === JSON.stringify(settings[field]),
  );

/** Whether only the name changes. Then the authority need not be checked again. */
export const isOnlyRenamed = (row: CaRow, { settings, secret }: DesiredAuthority): boolean =>
  row.secret === secret && sameSettings(row, settings);

export async function getCaRow({ store }: Pick<Context, "store">, id: number): Promise<CaRow> {
  const row = await store.certificateAuthorities.get(id);
  if (!row) throw notFound("certificate authority", id);
  return row;
}

export const itemOf = ({ id, name, type }: Pick<CaRow, "id" | "name" | "type">): CaItem => ({ id, name, type });

/** The fields of the object in replies, with a masked secret. */
export const objectOf = ({ name, type, settings }: CaRow): Omit<Ca, "id" | "type"> => ({
  name,
  ...(settings as { url: string }),
  [secretFields[type]]: MASK,
});

export const wholeCa = (row: CaRow): Ca => ({ ...itemOf(row), ...objectOf(row) });
