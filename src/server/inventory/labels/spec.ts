// Labels as configuration: exported as a whole, and applied by name in one transaction.

import { labelFields } from "../../../api/hosts/label.ts";
import type { LabelSpec, LabelSpecInput } from "../../../api/hosts/labels.ts";
import { fallbacksOf, fieldNames, pickSet } from "../../../api/plain-fields.ts";
import { hostsNamed } from "../../hosts/hosts/named.ts";
import { againWithoutGone, idsOfHosts, memberIds } from "../../hosts/labels/members.ts";
import { checkLabelName, isReserved, labelName } from "../../hosts/labels/names.ts";
import { authorizeLabel, checkPlatform, checkQuery, nameTaken } from "../../hosts/labels/rules.ts";
import { type LabelRow, specOf } from "../../hosts/labels/wire.ts";
import type { LabelColumns } from "../../hosts/labels/write.ts";
import { parts } from "../../platform/core/concurrency/parts.ts";
import type { Context } from "../../platform/core/context.ts";
import { invalid } from "../../platform/core/errors.ts";
import { eq, everything, oneOf } from "../../platform/store/query.ts";
import { checkCriteria } from "./criteria.ts";
import { keepLabels } from "./keep.ts";
import { changingLabels, labelNamed } from "./service.ts";

const plainNames = fieldNames(labelFields);

/** A checked spec. */
interface DesiredLabel extends Readonly<LabelColumns> {
  readonly at: string;
  /** Undefined: the members do not change. */
  readonly hosts: readonly (string | number)[] | undefined;
}

export async function applyLabelSpecs(ctx: Context, specs: readonly LabelSpecInput[]): Promise<Record<string, never>> {
  if (specs.length === 0) return {};
  const builtin = new Map(
    (await ctx.store.labels.list({ where: eq("label_type", "builtin") })).map((row) => [row.name, row]),
  );
  const desired: DesiredLabel[] = [];
  const names = new Set<string>();
  for (const [i, spec] of specs.entries()) {
    const at = `specs.${i}`;
    const name = labelName(spec.name);
    if (names.has(name)) throw invalid(`${at}.name`, `the label ${JSON.stringify(name)} is given twice`);
    names.add(name);
    const stored = builtin.get(name);
    if (stored || isReserved(name)) checkSame(stored, spec, at);
    else desired.push(checkSpec(ctx, spec, at));
  }
  await nameTaken("given", () => againWithoutGone(() => keepAll(ctx, desired)));
  return {};
}

/** Files may contain built-in labels but cannot change them. */
function checkSame(stored: LabelRow | undefined, spec: LabelSpecInput, at: string): void {
  const isSame =
    stored !== undefined &&
    (spec.label_type ?? "regular") === "builtin" &&
    (spec.label_membership_type ?? "dynamic") === stored.label_membership_type &&
    (spec.query ?? "") === stored.query &&
    (spec.platform ?? "") === stored.platform &&
    plainNames.every((field) => (spec[field] ?? labelFields[field].fallback) === stored[field]) &&
    !spec.criteria &&
    !spec.hosts?.length;
  if (!isSame) throw invalid(`${at}.name`, `${JSON.stringify(spec.name)} is a built-in label: it cannot be changed`);
}

/** `at` is the path of the spec within the request. */
export function checkSpec(ctx: Pick<Context, "clock">, spec: LabelSpecInput, at: string): DesiredLabel {
  const name = checkLabelName(spec.name, `${at}.name`);
  if (spec.label_type === "builtin")
    throw invalid(`${at}.label_type`, `there is no built-in label ${JSON.stringify(name)}`);
  const type = spec.label_membership_type ?? "dynamic";
  const query = checkQuery(spec.query, `${at}.query`);
  const refuse = (field: string, reason: string) =>
    invalid(`${at}.${field}`, `${reason} (label ${JSON.stringify(name)})`);
  if (type === "dynamic" && query === "") throw refuse("query", "a dynamic label needs a query");
  if (type !== "dynamic" && query !== "") throw refuse("query", "only a dynamic label has a query");
  if (type !== "manual" && spec.hosts && spec.hosts.length > 0) throw refuse("hosts", "only a manual label has hosts");
  if (type === "host_vitals" && !spec.criteria) throw refuse("criteria", "a host_vitals label needs criteria");
  if (type !== "host_vitals" && spec.criteria) throw refuse("criteria", "only a host_vitals label has criteria");
  return {
    at,
    name,
    ...fallbacksOf(labelFields),
    ...pickSet(spec, plainNames),
    query,
    platform: checkPlatform(spec.platform, `${at}.platform`),
    label_membership_type: type,
    criteria: spec.criteria ? checkCriteria(ctx, spec.criteria, `${at}.criteria`) : null,
    // A key with a null value clears the members. Without the key an existing label keeps its members.
    hosts: type === "manual" && spec.hosts !== undefined ? (spec.hosts ?? []) : undefined,
  };
}

async function keepAll(ctx: Context, desired: readonly DesiredLabel[]): Promise<void> {
  const members = new Map<DesiredLabel, ReadonlySet<number>>();
  for (const label of desired)
    if (label.hosts) members.set(label, await idsOfHosts(ctx, label.hosts, `${label.at}.hosts`));
  await changingLabels(ctx, async (inside) => {
    const names = desired.map(({ name }) => name);
    const rows = await inside.store.labels.list({ where: oneOf("name", names) });
    const held = new Map(rows.map((row) => [row.name, row]));
    for (const row of rows) await authorizeLabel(inside, row);
    await keepLabels(
      inside,
      desired.map((label) => {
        const { at, hosts, ...columns } = label;
        const before = held.get(label.name);
        if (!before && columns.label_membership_type === "manual" && hosts === undefined)
          throw invalid(`${at}.hosts`, `a new manual label needs hosts (label ${JSON.stringify(columns.name)})`);
        return { before, columns, members: members.get(label) };
      }),
    );
  });
}

export async function labelSpecs(ctx: Context): Promise<{ specs: LabelSpec[] }> {
  const rows = await ctx.store.labels.list({ order: [{ column: "id", direction: "asc" }] });
  const specs: LabelSpec[] = [];
  for (const row of rows) specs.push(await wholeSpec(ctx, row));
  return { specs };
}

export async function labelSpec(ctx: Context, name: string): Promise<{ specs: LabelSpec }> {
  return { specs: await wholeSpec(ctx, await labelNamed(ctx, name)) };
}

async function wholeSpec(ctx: Context, row: LabelRow): Promise<LabelSpec> {
  const isManual = row.label_membership_type === "manual" && row.label_type === "regular";
  if (!isManual) return specOf(row, undefined);
  const names = await nameHosts(ctx, await memberIds(ctx, row.id));
  return specOf(row, [...names.values()]);
}

/** A name for each host that finds no other host, by id: the serial number, otherwise the uuid, otherwise the id. */
export async function nameHosts(
  { store }: Pick<Context, "store">,
  ids: readonly number[],
): Promise<Map<number, string | number>> {
  const named = new Map<number, string | number>();
  for await (const batch of parts(ids)) {
    const hosts = await store.hosts.pick(["id", "hardware_serial", "uuid"], { where: oneOf("id", batch) });
    const hostsByName = await hostsNamed(
      store,
      hosts.flatMap(({ hardware_serial, uuid }) => [hardware_serial, uuid]),
      everything,
    );
    for (const { id, hardware_serial, uuid } of hosts) {
      const isSole = (name: string) => hostsByName.get(name)?.ids.length === 1 && hostsByName.get(name)?.ids[0] === id;
      named.set(id, [hardware_serial, uuid].find(isSole) ?? id);
    }
  }
  return named;
}
