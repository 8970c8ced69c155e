// Requested changes, and errors that name the change.

import type { ThingChange, ThingKey } from "../../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../../api/settings/no-team.ts";
import { turns } from "../../platform/core/concurrency/parts.ts";
import { ApiError, type FieldError } from "../../platform/core/errors.ts";
import type { Thing } from "./values.ts";

/** What an object belongs to: the organization, a team, or the hosts without a team. */
export type Place = "global" | "team" | "no_team";

/** What is checked of a change before its value. */
export interface KindShape {
  readonly owners: readonly Place[];
  /**
   * many: any number, created and deleted by name. one: exactly one per owner, named like the kind; it comes and goes
   * with its owner. section: a fixed set of names, none of which can be created or deleted.
   */
  readonly per: "many" | "one" | "section";
  /** For messages; the kind's name with spaces if absent. */
  readonly noun?: string;
  /** The value of an object has a name of its own, besides that of the object. */
  readonly isNameInValue?: true;
}

export interface RequestedChange extends ThingChange {
  /** The index of the change in the request. */
  readonly index: number;
  readonly shape: KindShape;
}

/** A change whose value was parsed. */
export interface Step<W> extends RequestedChange {
  readonly desired: W;
}

/** The parsed value, in the form in which the state shows it. */
export interface DesiredValue {
  readonly value: Thing["value"];
}

/** Describes the object: `policy "Disk is encrypted" of team "Sales"`. */
export function describeThing(
  { kind, owner, name }: ThingKey,
  { noun = kind.replaceAll("_", " "), per }: KindShape,
): string {
  const whose =
    owner === null ? "" : owner === NO_TEAM_NAME ? " of hosts without a team" : ` of team ${JSON.stringify(owner)}`;
  return `${noun}${per === "one" ? "" : ` ${JSON.stringify(name)}`}${whose}`;
}

/**
 * Names of the change's own fields begin with `change.`. All others are paths in its value, with or without the
 * prefix `value.`.
 */
function placed(change: RequestedChange, { name, reason }: FieldError): FieldError {
  return {
    name: `changes.${change.index}${placeOf(change, name)}`,
    reason: `${describeThing(change, change.shape)}: ${reason}`,
  };
}

function placeOf({ shape }: RequestedChange, name: string): string {
  if (name === "base") return "";
  if (name.startsWith("change.")) return `.${name.slice("change.".length)}`;
  const path = name === "value" || name.startsWith("value.") ? name : `value.${name}`;
  // Where values have no name field, the name is that of the change.
  const isOfChange = path === "value.name" && shape.per === "many" && !shape.isNameInValue;
  return isOfChange ? ".name" : `.${path}`;
}

/** The error for one change, with its index in the request. */
export const refusal = (change: RequestedChange, error: ApiError): ApiError =>
  new ApiError(
    error.status,
    error.message,
    (error.errors.length > 0 ? error.errors : [{ name: "base", reason: error.message }]).map((fieldError) =>
      placed(change, fieldError),
    ),
    { hasChanged: error.hasChanged },
  );

/** Adds the change to the errors that `work` throws. */
export async function locating<R>(change: RequestedChange, work: () => R | Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ApiError ? refusal(change, error) : error;
  }
}

/** The maximum number of errors in one reply. */
export const MAX_LISTED = 100;

/** Parses every change before any error is thrown. All errors are reported together, with the status of the first. */
export async function readAll<R>(
  changes: readonly RequestedChange[],
  read: (change: RequestedChange) => R,
): Promise<R[]> {
  const results: R[] = [];
  const errors: FieldError[] = [];
  let first: ApiError | null = null;
  const turn = turns();
  for (const change of changes) {
    await turn();
    try {
      results.push(read(change));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const located = refusal(change, error);
      first ??= located;
      errors.push(...located.errors);
      if (errors.length >= MAX_LISTED) break;
    }
  }
  if (first)
    throw new ApiError(first.status, first.message, errors.slice(0, MAX_LISTED), { hasChanged: first.hasChanged });
  return results;
}
