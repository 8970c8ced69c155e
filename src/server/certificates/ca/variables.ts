// Variables for host values: $SVC_VAR_HOST_UUID, with or without braces.

import { type AlternativeName, parseAlternativeNames, writeAlternativeNames } from "../../../pki/alternative-names.ts";
import { escapeValue, parseName } from "../../../pki/names.ts";
import { IDP_SOURCE } from "../../hosts/hosts/emails.ts";
import { peopleOfHosts } from "../../hosts/scim/people.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq } from "../../platform/store/query.ts";

const hostVariables = [
  "HOST_HARDWARE_SERIAL",
  "HOST_END_USER_EMAIL_IDP",
  "HOST_END_USER_IDP_USERNAME",
  "HOST_UUID",
] as const;
export type HostVariable = (typeof hostVariables)[number];

const VARIABLE = /\$(?:\{SVC_([A-Z0-9_]*)\}|SVC_([A-Z0-9_]*))/g;
const nameOf = (braced: string | undefined, bare: string | undefined): string =>
  (braced ?? bare ?? "").replace(/^VAR_/, "");

/** The first variable in the text that is not known, as written. Null if all are known. */
export function unknownVariable(text: string, allowed: readonly HostVariable[] = hostVariables): string | null {
  for (const [whole, braced, bare] of text.matchAll(VARIABLE)) {
    const isPrefixed = (braced ?? bare ?? "").startsWith("VAR_");
    if (!isPrefixed || !(allowed as readonly string[]).includes(nameOf(braced, bare))) return whole;
  }
  return null;
}

export type HostValues = Readonly<Record<HostVariable, string>>;

/** Values are empty if the host lacks them. Null if there is no such host. */
export async function valuesOf({ store }: Pick<Context, "store">, hostId: number): Promise<HostValues | null> {
  const host = await store.hosts.get(hostId);
  if (!host) return null;
  const account = await store.hostEmails.first({ where: and(eq("host_id", hostId), eq("source", IDP_SOURCE)) });
  const person = (await peopleOfHosts(store, [hostId])).get(hostId);
  return {
    HOST_HARDWARE_SERIAL: host.hardware_serial,
    HOST_UUID: host.uuid,
    HOST_END_USER_EMAIL_IDP: account?.email ?? "",
    HOST_END_USER_IDP_USERNAME: person?.user_name ?? account?.email ?? "",
  };
}

interface FilledText {
  readonly text: string;
  /** The variables for which the host has no value. The text must not be used if there are any. */
  readonly missing: readonly string[];
}

/**
 * Replaces variables in a subject name. They are replaced in the parsed fields, so that a reported value cannot add a
 * field. A reported value that could be an address of a person counts as missing.
 */
export function fillName(subject: string, values: HostValues): FilledText {
  const missing: string[] = [];
  const usable = withoutUnfit(values, (value) => !value.includes("@"));
  const fields = parseName(subject).map(({ key, value }) => {
    const filled = fillText(value, usable);
    missing.push(...filled.missing);
    return `/${key}=${escapeValue(filled.text)}`;
  });
  return { text: fields.join(""), missing };
}

const reported: readonly HostVariable[] = ["HOST_HARDWARE_SERIAL", "HOST_UUID"];

const withoutUnfit = (values: HostValues, isFit: (value: string) => boolean): HostValues => ({
  ...values,
  ...Object.fromEntries(reported.filter((name) => !isFit(values[name])).map((name) => [name, ""])),
});

/** Whether a value that the host has reported stays a part of the name, instead of adding a domain, a wildcard or an account. */
const isPlainIn = (kind: AlternativeName["kind"], value: string): boolean => {
  if (kind === "DNS") return /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(value);
  return (kind !== "EMAIL" && kind !== "UPN") || !value.includes("@");
};

/**
 * Fills variables of subject alternative names. A reported value that would change the meaning of a name counts as
 * missing.
 */
export function fillAlternativeNames(text: string, values: HostValues): FilledText {
  const missing: string[] = [];
  const names = parseAlternativeNames(text).map(({ kind, value }) => {
    const filled = fillText(
      value,
      withoutUnfit(values, (text) => isPlainIn(kind, text)),
    );
    missing.push(...filled.missing);
    return { kind, value: filled.text };
  });
  return { text: writeAlternativeNames(names), missing };
}

/** Replaces variables in a text that is no name. */
export function fillText(text: string, values: HostValues): FilledText {
  const missing: string[] = [];
  const filled = text.replace(VARIABLE, (whole, braced?: string, bare?: string) => {
    const value = values[nameOf(braced, bare) as HostVariable] ?? "";
    if (escapeValue(value).trim() === "") missing.push(whole);
    return value;
  });
  return { text: filled, missing };
}
