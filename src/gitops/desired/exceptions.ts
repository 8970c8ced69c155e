// What people change by hand although files determine the rest (gitops.exceptions): objects of these that files do not name
// stay as they are.

import type { ThingKey } from "../../api/edge/configuration.ts";
import type { GitopsExceptions } from "../../api/settings/app-config.ts";
import type { Problems, UnlistedObject } from "../files/problems.ts";
import type { FileScope, Files } from "../files/read.ts";
import { kinds } from "../kinds.ts";
import type { Owner } from "../plan/diff.ts";
import type { Current } from "./current.ts";

const exceptionOf = ({ kind }: Pick<ThingKey, "kind">) => kinds[kind]?.exception;

/** Whether the object stays although the files do not contain it. */
export function staysByHand(thing: ThingKey, current: Current, scopes: readonly FileScope[]): boolean {
  const exception = exceptionOf(thing);
  if (!current.isExcepted(exception)) return false;
  return exception !== "software" || !namesSoftware(thing.owner, scopes);
}

const namesSoftware = (owner: Owner, scopes: readonly FileScope[]): boolean =>
  scopes.some((scope) => scope.owner === owner && scope.software !== null);

/** Policies may name software that no file contains if the server has it and keeps it. */
export function settleUnlisted(problems: Problems, current: Current, scopes: readonly FileScope[]): void {
  const isThere = ({ kind, owner, called }: UnlistedObject): boolean =>
    kind === "package"
      ? current.packageCalled(owner, called) !== undefined
      : [called, `${called}/darwin`].some((name) => current.value(kind, owner, name) !== undefined);
  problems.settle(
    (unlisted) => staysByHand({ ...unlisted, name: unlisted.called }, current, scopes) && isThere(unlisted),
  );
}

/** Labels that people change by hand cannot be in files. */
export function refuseLabels({ scopes, specs, items, problems }: Files, current: Current): void {
  if (!current.isExcepted("labels")) return;
  const places = specs
    ? (items.get("label") ?? []).map(({ at }) => at)
    : scopes.flatMap(({ lists }) => lists.label?.key ?? []);
  for (const at of places)
    problems.error(
      at,
      "labels are changed by hand (gitops.exceptions.labels), so files cannot contain them: remove them here, or the exception on the server",
    );
}

/** What a run does with what people change by hand, as sentences. */
export function exceptionNotes(current: Current, scopes: readonly FileScope[]): string[] {
  const notes: Partial<Record<keyof GitopsExceptions, string>> = {};
  if (current.isExcepted("labels")) notes.labels = "labels stay as they are on the server";
  if (current.isExcepted("secrets")) {
    const files = scopes.filter(({ values }) => Array.isArray(values.settings?.secrets)).map(({ file }) => file);
    notes.secrets = `enroll secrets stay as they are on the server${but(files)}`;
  }
  if (current.isExcepted("software")) {
    const files = scopes.filter(({ kind, software }) => kind !== "global" && software !== null).map(({ file }) => file);
    notes.software = `software stays as it is on the server${but(files)}`;
  }
  return Object.entries(notes).map(([name, text]) => `gitops.exceptions.${name}: ${text}`);
}

const but = (files: readonly string[]): string =>
  files.length === 0 ? "" : `, but for what these files name, which is applied: ${files.join(", ")}`;
