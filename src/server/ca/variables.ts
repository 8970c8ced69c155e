// Variables that stand for what a host is: $SVC_VAR_HOST_UUID, or with braces.
import type { Context } from "../core/context.ts";
import { and, eq } from "../store/query.ts";
import { escapeValue, parseName } from "./names.ts";

export const hostVariables = [
  "HOST_HARDWARE_SERIAL",
  "HOST_END_USER_EMAIL_IDP",
  "HOST_END_USER_IDP_USERNAME",
  "HOST_UUID",
] as const;
export type HostVariable = (typeof hostVariables)[number];

const VARIABLE = /\$(?:\{SVC_([A-Z0-9_]*)\}|SVC_([A-Z0-9_]*))/g;
const nameOf = (braced: string | undefined, bare: string | undefined): string =>
  (braced ?? bare ?? "").replace(/^VAR_/, "");

/** What stands in the text and is none of these, as it stands there; null when all are. */
export function unknownVariable(text: string, known: readonly HostVariable[] = hostVariables): string | null {
  for (const [whole, braced, bare] of text.matchAll(VARIABLE)) {
    const isPrefixed = (braced ?? bare ?? "").startsWith("VAR_");
    if (!isPrefixed || !(known as readonly string[]).includes(nameOf(braced, bare))) return whole;
  }
  return null;
}

export type HostValues = Readonly<Record<HostVariable, string>>;

/** Empty where the host lacks it. */
export async function valuesOf({ store }: Pick<Context, "store">, hostId: number): Promise<HostValues | null> {
  const host = await store.hosts.get(hostId);
  if (!host) return null;
  const account = await store.hostEmails.first({
    where: and(eq("host_id", hostId), eq("source", "mdm_idp_accounts")),
  });
  return {
    HOST_HARDWARE_SERIAL: host.hardware_serial,
    HOST_UUID: host.uuid,
    HOST_END_USER_EMAIL_IDP: account?.email ?? "",
    HOST_END_USER_IDP_USERNAME: account?.email ?? "",
  };
}

export interface Filled {
  readonly text: string;
  /** The variables for which the host has no value; the text is not to be used then. */
  readonly missing: readonly string[];
}

/** A subject name with the host's values in it. Put into the fields as read, so that what a host tells of itself begins none. */
export function fillName(subject: string, values: HostValues): Filled {
  const missing: string[] = [];
  const fill = (text: string) =>
    text.replace(VARIABLE, (whole, braced?: string, bare?: string) => {
      const value = values[nameOf(braced, bare) as HostVariable] ?? "";
      if (escapeValue(value).trim() === "") missing.push(whole);
      return value;
    });
  const fields = parseName(subject).map(({ key, value }) => `/${key}=${escapeValue(fill(value))}`);
  return { text: fields.join(""), missing };
}
