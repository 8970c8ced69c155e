// The parts of hosts that a list has: those of `fields`, if the caller named some, and those that other parameters add.

import { type Host, type ListedHostField, listedHostFields } from "../../../api/hosts/host.ts";
import type { HostListQuery } from "../../../api/inventory/host-filters.ts";
import { nearest } from "../../../text/nearest.ts";
import { invalid } from "../../platform/core/errors.ts";
import type { HostParts } from "../host-details/wire.ts";

const namesIn = (list: string | undefined): readonly string[] =>
  (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);

const isListed = (name: string): name is ListedHostField => (listedHostFields as readonly string[]).includes(name);

export function partsOf(query: HostListQuery): HostParts {
  const additional = namesIn(query.additional_info_filters);
  const names = fieldsIn(query.fields);
  const isNamed = (name: ListedHostField): boolean => names?.has(name) ?? false;
  const parts = {
    software: query.populate_software ?? (isNamed("software") ? ("details" as const) : null),
    users: query.populate_users || isNamed("users"),
    labels: query.populate_labels || isNamed("labels"),
    policies: query.populate_policies || isNamed("policies"),
    deviceMapping: query.device_mapping || isNamed("device_mapping"),
    noIssues: query.disable_issues ?? query.disable_failing_policies,
    additional,
  };
  if (names === null) return parts;
  const added: Partial<Record<keyof Host, boolean>> = {
    software: parts.software !== null,
    users: parts.users,
    labels: parts.labels,
    policies: parts.policies,
    device_mapping: parts.deviceMapping,
    additional: additional.length > 0,
  };
  for (const [name, isAdded] of Object.entries(added)) if (isAdded) names.add(name as keyof Host);
  return { ...parts, fields: names };
}

/** Null: all fields. */
function fieldsIn(list: string | undefined): Set<keyof Host> | null {
  const names = namesIn(list);
  if (names.length === 0) return null;
  const unknown = names.filter((name) => !isListed(name));
  if (unknown.length === 0) return new Set(["id", ...names.filter(isListed)]);
  const near = nearest(unknown[0]!, listedHostFields);
  const help = near === undefined ? `fields: ${listedHostFields.join(", ")}` : `did you mean ${near}?`;
  throw invalid("fields", `lists of hosts have no field ${unknown.join(", ")}; ${help}`);
}

/** The hosts with only the fields that the list has. */
export function limited(hosts: Host[], { fields }: HostParts): Host[] {
  if (fields === undefined) return hosts;
  const names = [...fields];
  return hosts.map((host) => Object.fromEntries(names.map((name) => [name, host[name]])) as unknown as Host);
}

export async function* limitedPages(pages: AsyncIterable<Host[]>, parts: HostParts): AsyncGenerator<Host[]> {
  for await (const hosts of pages) yield limited(hosts, parts);
}
