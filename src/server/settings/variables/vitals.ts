// Custom host vitals: their definitions, and the values of hosts.
import type { z } from "zod";
import type { CustomHostVital, hostVitalsApi } from "../../../api/settings/variables.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { alreadyExists, invalid, notFound } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { nameKey } from "../../platform/core/name-key.ts";
import type { Tables } from "../../platform/core/tables.ts";
import { and, eq, everything, oneOf, search } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { customHostVitals } from "./tables.ts";
import { vitalKey } from "./text.ts";
import { checkUnused, valuesChanged } from "./users.ts";

export type VitalRow = RowOf<typeof customHostVitals>;

const onWire = ({ id, name, created_at, updated_at }: VitalRow): CustomHostVital => ({
  id,
  name,
  created_at,
  updated_at,
});

export async function listVitals({ store }: Context, filter: z.output<typeof hostVitalsApi.list.query>) {
  const where = search(["name"], filter.query ?? "");
  const [{ rows, meta }, count] = await Promise.all([
    page(store.customHostVitals, filter, where, { defaultOrder: [{ column: "name", direction: "asc" }] }),
    store.customHostVitals.count(where),
  ]);
  return { custom_host_vitals: rows.map(onWire), meta, count };
}

/** Serializes changes, so that two requests cannot both create a name. */
export const VITAL_LOCK_OPTIONS = { lock: "custom-host-vitals" } as const;

const changing = <T>(ctx: Context, work: (inside: Context) => Promise<T>): Promise<T> =>
  ctx.store.tx((store) => work(within(ctx, store)), VITAL_LOCK_OPTIONS);

async function checkFree({ store }: Context, name: string, except = 0): Promise<void> {
  const taken = await store.customHostVitals.first({ where: eq("name_key", nameKey(name)) });
  if (taken !== null && taken.id !== except)
    throw alreadyExists(`a custom host vital with the name ${JSON.stringify(taken.name)} already exists`);
}

async function find({ store }: Context, id: number): Promise<VitalRow> {
  const row = await store.customHostVitals.get(id);
  if (!row) throw notFound("custom host vital", id);
  return row;
}

const rowOf = ({ clock }: Context, name: string) => {
  const now = clock.iso();
  return { name, name_key: nameKey(name), created_at: now, updated_at: now };
};

/** Under the lock of changes. 409 if there is one with this name. */
export async function addVital(inside: Context, name: string): Promise<VitalRow> {
  await checkFree(inside, name);
  return inside.store.customHostVitals.insert(rowOf(inside, name));
}

export const createVital = (ctx: Context, name: string) =>
  changing(ctx, async (inside) => ({ custom_host_vital: onWire(await addVital(inside, name)) }));

export const renameVital = (ctx: Context, id: number, name: string) =>
  changing(ctx, async (inside) => {
    await find(inside, id);
    await checkFree(inside, name, id);
    const set = { name, name_key: nameKey(name), updated_at: ctx.clock.iso() };
    await inside.store.customHostVitals.update({ where: eq("id", id), set });
    return { custom_host_vital: onWire(await find(inside, id)) };
  });

/** Under the lock of changes. 409 that names a use. */
export async function removeVitals(inside: Context, rows: readonly VitalRow[]): Promise<void> {
  for (const { id, name } of rows)
    await checkUnused(inside, vitalKey(id), `the custom host vital ${JSON.stringify(name)}`);
  const ids = rows.map(({ id }) => id);
  await inside.store.customHostVitals.delete(oneOf("id", ids));
}

export const deleteVital = (ctx: Context, id: number): Promise<Record<string, never>> =>
  changing(ctx, async (inside) => {
    await removeVitals(inside, [await find(inside, id)]);
    return {};
  });

/** Replaces the custom host vitals. Those that keep their name keep their id and the hosts' values. */
export async function applyVitals(ctx: Context, names: readonly string[]): Promise<Record<string, never>> {
  const desired = new Map<string, string>();
  for (const [i, name] of names.entries()) {
    if (desired.has(nameKey(name))) throw invalid(`custom_host_vitals.${i}.name`, `${name} is given more than once`);
    desired.set(nameKey(name), name);
  }
  return changing(ctx, async (inside) => {
    const { store } = inside;
    const existing = await store.customHostVitals.list({ where: everything });
    await removeVitals(
      inside,
      existing.filter(({ name_key }) => !desired.has(name_key)),
    );
    const updated_at = ctx.clock.iso();
    await store.customHostVitals.updateEach(
      existing.flatMap(({ id, name_key, name: before }) => {
        const name = desired.get(name_key);
        return name === undefined || name === before ? [] : [{ id, name, updated_at }];
      }),
    );
    const isKnown = new Set(existing.map(({ name_key }) => name_key));
    const added = [...desired].filter(([key]) => !isKnown.has(key));
    if (added.length > 0) await store.customHostVitals.insertMany(added.map(([, name]) => rowOf(ctx, name)));
    return {};
  });
}

/** The caller has checked that the user may change values of the host. An empty value removes it. */
export function setVital(
  ctx: Context,
  host: Pick<RowOf<Tables["hosts"]>, "id" | "display_name">,
  vitalId: number,
  value: string,
): Promise<Record<string, never>> {
  const hostId = host.id;
  return changing(ctx, async (inside) => {
    const vital = await find(inside, vitalId);
    const { store } = inside;
    const where = and(eq("host_id", hostId), eq("vital_id", vitalId));
    const before = (await store.hostVitalValues.first({ where }))?.value ?? "";
    if (before === value) return {};
    if (value === "") await store.hostVitalValues.delete(where);
    else
      await store.hostVitalValues.upsert([{ host_id: hostId, vital_id: vitalId, value }], {
        on: ["host_id", "vital_id"],
      });
    await recordActivity(
      inside,
      "edited_custom_host_vital_value",
      {
        host_id: hostId,
        host_display_name: host.display_name,
        custom_host_vital_id: vitalId,
        custom_host_vital_name: vital.name,
      },
      { hostId },
    );
    await valuesChanged(inside, [vitalKey(vitalId)], [hostId]);
    return {};
  });
}
