import { type NamedHosts, soleHosts } from "../../../../hosts/hosts/named.ts";
import { checkCustomVital } from "../../../../hosts/labels/custom-vitals.ts";
import { checkAllUnused } from "../../../../hosts/labels/label-uses.ts";
import { hostsByName } from "../../../../hosts/labels/members.ts";
import { nameTaken } from "../../../../hosts/labels/rules.ts";
import type { LabelRow } from "../../../../hosts/labels/wire.ts";
import { removeLabels } from "../../../../hosts/labels/write.ts";
import { keepLabels } from "../../../../inventory/labels/keep.ts";
import { nameHosts } from "../../../../inventory/labels/spec.ts";
import { channels } from "../../../../platform/core/channels.ts";
import { invalid } from "../../../../platform/core/errors.ts";
import { ReferenceViolation } from "../../../../platform/store/store.ts";
import { locating, type RequestedChange, refusal, type Step } from "../../changes.ts";
import { count, differs, type Work } from "../../work.ts";
import { type DesiredLabel, labelValue } from "./value.ts";

const membersOf = (
  hostsByName: ReadonlyMap<string | number, NamedHosts>,
  names: readonly (string | number)[],
): ReadonlySet<number> =>
  new Set(
    soleHosts(
      new Map(names.flatMap((name) => (hostsByName.has(name) ? [[name, hostsByName.get(name)!]] : []))),
      "hosts",
    ).values(),
  );

export async function writeLabels(work: Work, steps: readonly Step<DesiredLabel>[]): Promise<void> {
  if (steps.length === 0) return;
  const { ctx } = work;
  const namedHosts = await hostsByName(
    ctx,
    steps.flatMap(({ desired }) => desired.hosts ?? []),
  );
  const names = await nameHosts(ctx, [...new Set([...namedHosts.values()].flatMap(({ ids }) => ids))]);
  const before = new Map(work.shared.labels.map((row) => [row.name, row]));
  const labels = [];
  for (const step of steps) {
    const { columns, hosts } = step.desired;
    const members = hosts && (await locating(step, () => membersOf(namedHosts, hosts)));
    const called = [...(members ?? [])].map((id) => names.get(id)).filter((name) => name !== undefined);
    labels.push({ step, columns, members, value: labelValue(columns, called) });
  }
  const changed = labels.filter(({ step, value }) => differs(work, step, value));
  if (changed.length === 0) return;
  for (const { step, columns } of changed) await locating(step, () => checkCustomVital(ctx.store, columns.criteria));
  await nameTaken("given", () =>
    keepLabels(
      ctx,
      changed.map(({ step, columns, members }) => ({
        before: before.get(step.name),
        columns,
        ...(members ? { members } : {}),
      })),
    ),
  );
  await ctx.store.notify(channels.labels, "");
  count(
    work,
    changed.map(({ step }) => step),
  );
}

/** Runs after the objects that used the labels are deleted. */
export async function removeNamedLabels(work: Work, changes: readonly RequestedChange[]): Promise<void> {
  if (changes.length === 0) return;
  const { store } = work.ctx;
  const rows = new Map(work.shared.labels.map((row) => [row.name, row]));
  const named = changes.map((change): [LabelRow, RequestedChange] => [rows.get(change.name)!, change]);
  const inUse = await checkAllUnused(
    work.ctx,
    named.map(([row]) => row),
  );
  for (const [row, change] of named) {
    const reason = inUse.get(row.id);
    if (reason !== undefined) throw refusal(change, invalid("base", reason));
  }
  try {
    await removeLabels(
      work.ctx,
      named.map(([row]) => row),
    );
  } catch (error) {
    if (error instanceof ReferenceViolation) throw refusal(changes[0]!, invalid("base", "is in use (foreign key)"));
    throw error;
  }
  await store.notify(channels.labels, "");
  count(work, changes);
}
