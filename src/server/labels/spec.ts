// Labels as configuration: read whole, written by name, all or none.
import type { GivenLabelSpec, LabelCriteria, LabelSpec } from "../../api/labels.ts";
import { channels } from "../core/channels.ts";
import { type Context, within } from "../core/context.ts";
import { invalid } from "../core/errors.ts";
import { eq, oneOf } from "../store/query.ts";
import { checkCriteria, findMembers } from "./criteria.ts";
import { againWithoutGone, clearMembers, hostsNamed, memberIds, parts, replaceMembers } from "./members.ts";
import { checkLabelName, isReserved, labelName } from "./names.ts";
import { authorizeLabel, checkPlatform, isBlank, nameTaken } from "./rules.ts";
import { labelNamed } from "./service.ts";
import { type LabelRow, specOf } from "./wire.ts";

/** What a spec asks for, checked. */
interface Wanted {
  readonly at: string;
  readonly name: string;
  readonly description: string;
  readonly query: string;
  readonly platform: string;
  readonly label_membership_type: LabelRow["label_membership_type"];
  readonly criteria: LabelCriteria | null;
  /** Undefined: members stay. */
  readonly hosts: readonly (string | number)[] | undefined;
}

export async function applyLabelSpecs(ctx: Context, specs: readonly GivenLabelSpec[]): Promise<Record<string, never>> {
  if (specs.length === 0) return {};
  const builtin = new Map(
    (await ctx.store.labels.list({ where: eq("label_type", "builtin") })).map((row) => [row.name, row]),
  );
  const wanted: Wanted[] = [];
  const names = new Set<string>();
  for (const [i, spec] of specs.entries()) {
    const at = `specs.${i}`;
    const name = labelName(spec.name);
    if (names.has(name)) throw invalid(`${at}.name`, `the label ${JSON.stringify(name)} is given twice`);
    names.add(name);
    const stored = builtin.get(name);
    if (stored || isReserved(name)) checkSame(stored, spec, at);
    else wanted.push(check(ctx, spec, at));
  }
  await nameTaken("given", () => againWithoutGone(() => keepAll(ctx, wanted)));
  return {};
}

/** Built-in labels may stand in a file, but not be changed by it. */
function checkSame(stored: LabelRow | undefined, spec: GivenLabelSpec, at: string): void {
  const isSame =
    stored !== undefined &&
    (spec.label_type ?? "regular") === "builtin" &&
    (spec.label_membership_type ?? "dynamic") === stored.label_membership_type &&
    (spec.query ?? "") === stored.query &&
    (spec.platform ?? "") === stored.platform &&
    (spec.description ?? "") === stored.description &&
    !spec.criteria &&
    !spec.hosts?.length;
  if (!isSame) throw invalid(`${at}.name`, `${JSON.stringify(spec.name)} is a built-in label: it cannot be changed`);
}

function check(ctx: Context, spec: GivenLabelSpec, at: string): Wanted {
  const name = checkLabelName(spec.name, `${at}.name`);
  if (spec.label_type === "builtin")
    throw invalid(`${at}.label_type`, `there is no built-in label ${JSON.stringify(name)}`);
  const type = spec.label_membership_type ?? "dynamic";
  const query = isBlank(spec.query) ? "" : spec.query!;
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
    description: spec.description ?? "",
    query,
    platform: checkPlatform(spec.platform, `${at}.platform`),
    label_membership_type: type,
    criteria: spec.criteria ? checkCriteria(ctx, spec.criteria, `${at}.criteria`) : null,
    // The key without a value clears; without the key an existing label keeps its members.
    hosts: type === "manual" && spec.hosts !== undefined ? (spec.hosts ?? []) : undefined,
  };
}

async function keepAll(ctx: Context, wanted: readonly Wanted[]): Promise<void> {
  const members = new Map<Wanted, ReadonlySet<number>>();
  for (const one of wanted) if (one.hosts) members.set(one, await hostsNamed(ctx, one.hosts));
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const names = wanted.map(({ name }) => name);
    const held = new Map((await store.labels.list({ where: oneOf("name", names) })).map((row) => [row.name, row]));
    for (const one of wanted) await keep(inside, one, held.get(one.name), members.get(one));
    await store.notify(channels.labels, "");
  });
}

async function keep(
  ctx: Context,
  { at, hosts, ...columns }: Wanted,
  before: LabelRow | undefined,
  members: ReadonlySet<number> | undefined,
): Promise<void> {
  const { store, clock, user } = ctx;
  const now = clock.iso();
  if (!before) {
    if (columns.label_membership_type === "manual" && hosts === undefined)
      throw invalid(`${at}.hosts`, `a new manual label needs hosts (label ${JSON.stringify(columns.name)})`);
    const label = await store.labels.insert({
      ...columns,
      created_at: now,
      updated_at: now,
      author_id: user.kind === "user" ? user.id : null,
      label_type: "regular",
    });
    if (members) await replaceMembers(ctx, label.id, members);
    await findMembers(ctx, label);
    return;
  }
  authorizeLabel(ctx, before);
  const differs = (column: keyof typeof columns) => JSON.stringify(before[column]) !== JSON.stringify(columns[column]);
  const changed = (Object.keys(columns) as (keyof typeof columns)[]).filter(differs);
  if (changed.length > 0)
    await store.labels.update({ where: eq("id", before.id), set: { ...columns, updated_at: now } });
  // Who answered another question is no member until it answers this one.
  if (changed.some((column) => asks.has(column))) await clearMembers(store, before.id);
  if (members) await replaceMembers(ctx, before.id, members);
  if (columns.criteria) await findMembers(ctx, { id: before.id, criteria: columns.criteria });
}

const asks: ReadonlySet<string> = new Set(["query", "platform", "label_membership_type"]);

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
  return specOf(row, isManual ? await nameHosts(ctx, await memberIds(ctx, row.id)) : undefined);
}

/** Hosts by what names them and no other: the serial number, else the uuid, else the id. */
async function nameHosts({ store }: Context, ids: readonly number[]): Promise<(string | number)[]> {
  const named: (string | number)[] = [];
  for await (const some of parts(ids)) {
    const hosts = await store.hosts.pick(["id", "hardware_serial", "uuid"], { where: oneOf("id", some) });
    const sole = async (column: "hardware_serial" | "uuid") => {
      const values = hosts.map((host) => host[column]).filter((value) => value !== "");
      const groups = await store.hosts.groupCount(column, oneOf(column, values));
      return new Set(groups.filter(({ count }) => count === 1).map(({ value }) => value));
    };
    const serials = await sole("hardware_serial");
    const uuids = await sole("uuid");
    for (const { id, hardware_serial: serial, uuid } of hosts)
      named.push(serials.has(serial) ? serial : uuids.has(uuid) ? uuid : id);
  }
  return named;
}
