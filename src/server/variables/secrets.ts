// Lists, creates, changes and deletes custom variables.
import type { z } from "zod";
import { SECRET_PREFIX, type SecretVariable, type variablesApi } from "../../api/variables.ts";
import { recordActivities, recordActivity } from "../activities/record.ts";
import { type Context, within } from "../core/context.ts";
import { alreadyExists, invalid, notFound } from "../core/errors.ts";
import { page } from "../core/http/paging.ts";
import { eq, everything, oneOf } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import type { customVariables } from "./tables.ts";
import { secretKey } from "./text.ts";
import { checkUnused, valuesChanged } from "./users.ts";

export async function listVariables({ store }: Context, query: z.output<typeof variablesApi.list.query>) {
  const [{ rows, meta }, count] = await Promise.all([
    page(store.customVariables, query, everything, { defaultOrder: [{ column: "name", direction: "asc" }] }),
    store.customVariables.count(everything),
  ]);
  return {
    custom_variables: rows.map(({ id, name, created_at, updated_at }) => ({ id, name, created_at, updated_at })),
    meta,
    count,
  };
}

const NAME = /^[A-Za-z0-9_]{1,255}$/;

function checkName(name: string, field: string): void {
  if (!NAME.test(name))
    throw invalid(field, "a name consists of letters of the English alphabet, digits and underscores, 255 at most");
}

/** Serializes changes, so that two requests cannot both create a name. */
const CHANGES = { lock: "custom-variables" };

export async function createVariable(ctx: Context, { name, value }: z.output<typeof variablesApi.create.body>) {
  checkName(name, "name");
  if (name.startsWith(SECRET_PREFIX)) throw invalid("name", `the name is given without the prefix ${SECRET_PREFIX}`);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    if ((await store.customVariables.first({ where: eq("name", name) })) !== null)
      throw alreadyExists(`a custom variable with the name ${JSON.stringify(name)} already exists`);
    const [row] = await add(inside, [{ name, value }]);
    return { id: row!.id, name };
  }, CHANGES);
}

async function add(inside: Context, given: readonly { readonly name: string; readonly value: string }[]) {
  const now = inside.clock.iso();
  const rows = await inside.store.customVariables.insertMany(
    given.map(({ name, value }) => ({ name, value, previous: null, created_at: now, updated_at: now })),
  );
  await recordActivities(inside, "created_custom_variable", rows.map(named));
  return rows;
}

const named = ({ id, name }: Pick<RowOf<typeof customVariables>, "id" | "name">) => ({
  custom_variable_id: id,
  custom_variable_name: name,
});

export async function deleteVariable(ctx: Context, id: number): Promise<Record<string, never>> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const row = await store.customVariables.get(id);
    if (!row) throw notFound("custom variable", id);
    await checkUnused(inside, secretKey(row.name), `the custom variable ${JSON.stringify(row.name)}`);
    await store.customVariables.delete(eq("id", id));
    await recordActivity(inside, "deleted_custom_variable", named(row));
  }, CHANGES);
  return {};
}

/** Creates those that do not exist, and changes the values of the others. */
export async function applyVariables(
  ctx: Context,
  { secrets }: { readonly secrets: readonly SecretVariable[] },
): Promise<Record<string, never>> {
  const given = new Map<string, string>();
  for (const [i, { name: written, value }] of secrets.entries()) {
    const name = written.startsWith(SECRET_PREFIX) ? written.slice(SECRET_PREFIX.length) : written;
    checkName(name, `secrets.${i}.name`);
    if (given.has(name)) throw invalid(`secrets.${i}.name`, `${name} is given more than once`);
    given.set(name, value);
  }
  if (given.size === 0) return {};
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const known = await store.customVariables.list({ where: oneOf("name", [...given.keys()]) });
    const changed = known.filter(({ name, value }) => given.get(name) !== value);
    const updated_at = ctx.clock.iso();
    await store.customVariables.updateEach(
      changed.map(({ id, name, value }) => ({ id, value: given.get(name)!, previous: value, updated_at })),
    );
    await recordActivities(inside, "edited_custom_variable", changed.map(named));
    const isKnown = new Set(known.map(({ name }) => name));
    const added = [...given].filter(([name]) => !isKnown.has(name));
    if (added.length > 0)
      await add(
        inside,
        added.map(([name, value]) => ({ name, value })),
      );
    await valuesChanged(
      inside,
      changed.map(({ name }) => secretKey(name)),
    );
  }, CHANGES);
  return {};
}
