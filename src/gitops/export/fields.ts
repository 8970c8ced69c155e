// Parts of values as they are written to files.

import { isSame, type Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import { mdmLeft, orgMdmKeys } from "../schema/settings.ts";

export type Fields = { readonly [key: string]: Json };

export const fieldsOf = (value: Json | undefined): Fields => (isRecord(value) ? value : {});

export const pick = (value: Fields, isPicked: (key: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(value).filter(([key]) => isPicked(key)));

/** The fields that differ from their defaults. */
export const changed = (value: Fields, defaults: Fields): Fields =>
  pick(value, (key) => !isSame(value[key], defaults[key]));

export const isOrgMdm = (key: string): boolean => (orgMdmKeys as readonly string[]).includes(key);

/** The fields of `mdm` that files call controls, without those that files cannot express. */
export function controlsOf(mdm: Fields): Fields {
  const kept = structuredClone(pick(mdm, (key) => !isOrgMdm(key))) as Record<string, Json>;
  for (const path of mdmLeft) {
    const [first = "", second] = path.split(".");
    const inner = kept[first];
    if (second === undefined) delete kept[first];
    else if (isRecord(inner)) kept[first] = pick(inner, (key) => key !== second);
  }
  return kept;
}
