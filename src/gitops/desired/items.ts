// The desired labels, policies and queries.

import { type ConfigurationState, compareHosts, type ThingKey } from "../../api/configuration.ts";
import { isRecord } from "../../text/record.ts";
import type { Placed } from "../files/collect.ts";
import type { Place, Problems } from "../files/problems.ts";
import type { Json, Thing } from "../plan/diff.ts";
import type { LabelFile, PolicyFile, QueryFile } from "../schema/items.ts";
import type { Current } from "./current.ts";

export function desiredLabels(labels: readonly Placed<LabelFile>[], current: Current, problems: Problems): Thing[] {
  // A name that several hosts share means all of them.
  const found = new Map<string | number, (string | number)[]>();
  for (const { given, host } of current.state.hosts)
    if (host !== null) found.set(given, [...(found.get(given) ?? []), host]);
  return labels.map(({ value: { name, hosts, ...value }, place }) => {
    const named = (given: readonly (string | number)[]) =>
      given.flatMap((one, i) => {
        const those = found.get(one);
        if (!those) problems.warn(place("hosts", String(i)), `label ${JSON.stringify(name)}: there is no host ${one}`);
        return those ?? [];
      });
    const before = current.value("label", null, name);
    const kept = isRecord(before) ? before.hosts : null;
    const members = hosts === undefined ? (kept ?? []) : [...new Set(named(hosts ?? []))].sort(compareHosts);
    const isManual = value.label_membership_type === "manual";
    const { criteria, ...rest } = value;
    return {
      kind: "label",
      owner: null,
      name,
      value: { ...rest, criteria: criteria as Json, hosts: isManual ? members : null },
    };
  });
}

export function desiredPolicies(
  policies: readonly Placed<PolicyFile>[],
  current: Current,
  problems: Problems,
): Thing[] {
  return policies.map(({ value, owner, place }) => {
    if (value.critical && !current.isPremium)
      problems.warn(place("critical"), "critical is ignored: it needs the premium tier");
    return {
      kind: "policy",
      owner,
      name: value.name,
      value: {
        query: value.query,
        description: value.description,
        resolution: value.resolution,
        platform: value.platform,
        critical: value.critical && current.isPremium,
        labels_include_any: value.labels_include_any,
        labels_exclude_any: value.labels_exclude_any,
        calendar_events_enabled: value.calendar_events_enabled,
        conditional_access_enabled: value.conditional_access_enabled,
        webhooks_and_tickets_enabled: value.webhooks_and_tickets_enabled,
      },
    };
  });
}

export const desiredQueries = (queries: readonly Placed<QueryFile>[]): Thing[] =>
  queries.map(({ value, owner }) => ({
    kind: "query",
    owner,
    name: value.name,
    value: {
      query: value.query,
      description: value.description,
      interval: value.interval,
      platform: value.platform,
      min_qengine_version: value.min_qengine_version,
      observer_can_run: value.observer_can_run,
      automations_enabled: value.automations_enabled,
      logging: value.logging,
      discard_data: value.discard_data,
      labels_include_any: value.labels_include_any,
    },
  }));

interface Staying {
  readonly at: Place;
  readonly problems: Problems;
  stays(thing: ThingKey): boolean;
}

/** A label cannot be deleted while an object that no file of this run defines refers to it. */
export function remainingUses(
  { things }: ConfigurationState,
  labels: readonly Placed<LabelFile>[],
  { at, problems, stays }: Staying,
): void {
  const kept = new Set(labels.map(({ value }) => value.name));
  const gone = new Set(things.filter(({ kind, name }) => kind === "label" && !kept.has(name)).map(({ name }) => name));
  if (gone.size === 0) return;
  for (const thing of things) {
    if ((thing.kind !== "policy" && thing.kind !== "query") || !stays(thing)) continue;
    const value = thing.value as Json;
    for (const field of ["labels_include_any", "labels_exclude_any"]) {
      const names = isRecord(value) ? value[field] : undefined;
      for (const name of Array.isArray(names) ? names : [])
        if (gone.has(String(name)))
          problems.error(
            at,
            `the label ${JSON.stringify(name)} is not in the files, but the ${thing.kind} ${JSON.stringify(thing.name)} of ${thing.owner ?? "all hosts"} uses it`,
          );
    }
  }
}
