// Lists, creates, changes and deletes custom variables.

import { isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import {
  type CustomVariable,
  SECRET_PREFIX,
  type SecretVariable,
  type VariableScope,
  variableDefaultUses,
  type variablesApi,
  variableUses,
} from "../../../api/settings/variables.ts";
import { recordActivities, recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { alreadyExists, invalid, notFound } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { checkUnchanged } from "../../platform/core/http/unchanged.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, everything, oneOf } from "../../platform/store/query.ts";
import type { RowOf } from "../../platform/store/table.ts";
import type { customVariables } from "./tables.ts";
import { secretKey } from "./text.ts";
import { checkUnused, valuesChanged } from "./users.ts";

export async function listVariables({ store }: Context, query: z.output<typeof variablesApi.list.query>) {
  const [{ rows, meta }, count] = await Promise.all([
    page(store.customVariables, query, everything, { defaultOrder: [{ column: "name", direction: "asc" }] }),
    store.customVariables.count(everything),
  ]);
  return {
    custom_variables: rows.map(onWire),
    meta,
    count,
  };
}

export type VariableRow = RowOf<typeof customVariables>;

const onWire = ({ id, name, team_ids, uses, created_at, updated_at }: VariableRow): CustomVariable => ({
  id,
  name,
  team_ids: team_ids === null ? null : [...team_ids],
  uses: [...uses],
  created_at,
  updated_at,
});

/** 422 for a team that does not exist. Returns the scope without repetitions, in one order. */
async function scopeOf(store: ServerTx, input: Partial<VariableScope>, field = ""): Promise<Partial<VariableScope>> {
  const { team_ids, uses } = input;
  const scope: Partial<VariableScope> = {};
  if (uses !== undefined) scope.uses = variableUses.filter((use) => uses.includes(use));
  if (team_ids === null) scope.team_ids = null;
  else if (team_ids !== undefined) {
    scope.team_ids = [...new Set(team_ids)].sort((a, b) => a - b);
    const teams = scope.team_ids.filter((id) => id !== 0);
    const existing = new Set((await store.teams.pick(["id"], { where: oneOf("id", teams) })).map(({ id }) => id));
    const unknown = teams.find((id) => !existing.has(id));
    if (unknown !== undefined) throw invalid(`${field}team_ids`, `there is no team with the id ${unknown}`);
  }
  return scope;
}

const NAME_PATTERN = /^[A-Za-z0-9_]{1,255}$/;

export function checkVariableName(name: string, field: string): void {
  if (!NAME_PATTERN.test(name))
    throw invalid(field, "a name consists of letters of the English alphabet, digits and underscores, 255 at most");
}

/** Serializes changes, so that two requests cannot both create a name. */
export const VARIABLE_LOCK_OPTIONS = { lock: "custom-variables" } as const;

export async function createVariable(
  ctx: Context,
  { name, value, ...scope }: z.output<typeof variablesApi.create.body>,
) {
  checkVariableName(name, "name");
  if (name.startsWith(SECRET_PREFIX)) throw invalid("name", `the name is given without the prefix ${SECRET_PREFIX}`);
  return ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    if ((await store.customVariables.first({ where: eq("name", name) })) !== null)
      throw alreadyExists(`a custom variable with the name ${JSON.stringify(name)} already exists`);
    const [row] = await add(inside, [{ name, value, ...(await scopeOf(store, scope)) }]);
    return { id: row!.id, name };
  }, VARIABLE_LOCK_OPTIONS);
}

async function add(inside: Context, variables: readonly SecretVariable[]) {
  const now = inside.clock.iso();
  const rows = await inside.store.customVariables.insertMany(
    variables.map(({ name, value, team_ids = null, uses = [...variableDefaultUses] }) => ({
      name,
      value,
      previous: null,
      team_ids,
      uses,
      created_at: now,
      updated_at: now,
    })),
  );
  await recordActivities(inside, "created_custom_variable", rows.map(named));
  return rows;
}

const named = ({ id, name }: Pick<VariableRow, "id" | "name">) => ({
  custom_variable_id: id,
  custom_variable_name: name,
});

export async function modifyVariable(
  ctx: Context,
  id: number,
  { name, ...fields }: z.output<typeof variablesApi.modify.body>,
): Promise<{ custom_variable: CustomVariable }> {
  return ctx.store.tx(async (store) => {
    const row = await store.customVariables.get(id);
    if (!row) throw notFound("custom variable", id);
    checkUnchanged({ name }, { name: row.name });
    await change(within(ctx, store), [{ row, change: { ...fields, ...(await scopeOf(store, fields)) } }]);
    return { custom_variable: onWire((await store.customVariables.get(id))!) };
  }, VARIABLE_LOCK_OPTIONS);
}

interface VariableChange {
  readonly row: VariableRow;
  readonly change: Partial<VariableScope> & { readonly value?: string | undefined };
}

/** What is not given stays. Features that use a changed variable are notified. */
async function change(inside: Context, changes: readonly VariableChange[]): Promise<void> {
  const changed = changes.flatMap(({ row, change: { value = row.value, team_ids = row.team_ids, uses = row.uses } }) =>
    value === row.value && isDeepStrictEqual([team_ids, uses], [row.team_ids, row.uses])
      ? []
      : [{ row, set: { value, team_ids, uses, previous: value === row.value ? row.previous : row.value } }],
  );
  const updated_at = inside.clock.iso();
  await inside.store.customVariables.updateEach(changed.map(({ row, set }) => ({ id: row.id, ...set, updated_at })));
  const rows = changed.map(({ row }) => row);
  await recordActivities(inside, "edited_custom_variable", rows.map(named));
  await valuesChanged(
    inside,
    rows.map(({ name }) => secretKey(name)),
  );
}

export async function deleteVariable(ctx: Context, id: number): Promise<Record<string, never>> {
  await ctx.store.tx(async (store) => {
    const inside = within(ctx, store);
    const row = await store.customVariables.get(id);
    if (!row) throw notFound("custom variable", id);
    await removeVariable(inside, row);
  }, VARIABLE_LOCK_OPTIONS);
  return {};
}

/** Under the lock of changes. 409 that names a use. */
export async function removeVariable(inside: Context, row: VariableRow): Promise<void> {
  await checkUnused(inside, secretKey(row.name), `the custom variable ${JSON.stringify(row.name)}`);
  await inside.store.customVariables.delete(eq("id", row.id));
  await recordActivity(inside, "deleted_custom_variable", named(row));
}

/** Creates those that do not exist, and changes the values of the others. */
export async function applyVariables(
  ctx: Context,
  { secrets }: { readonly secrets: readonly SecretVariable[] },
): Promise<Record<string, never>> {
  await ctx.store.tx((store) => setVariables(within(ctx, store), secrets), VARIABLE_LOCK_OPTIONS);
  return {};
}

/** Sets variables. Call it under the lock of changes. */
export async function setVariables(inside: Context, secrets: readonly SecretVariable[]): Promise<void> {
  const inputs = new Map<string, SecretVariable & { readonly field: string }>();
  for (const [i, { name: written, ...rest }] of secrets.entries()) {
    const name = written.startsWith(SECRET_PREFIX) ? written.slice(SECRET_PREFIX.length) : written;
    checkVariableName(name, `secrets.${i}.name`);
    if (inputs.has(name)) throw invalid(`secrets.${i}.name`, `${name} is given more than once`);
    inputs.set(name, { name, ...rest, field: `secrets.${i}.` });
  }
  if (inputs.size === 0) return;
  const { store } = inside;
  const existing = await store.customVariables.list({ where: oneOf("name", [...inputs.keys()]) });
  const desired: SecretVariable[] = [];
  for (const { field, ...input } of inputs.values())
    desired.push({ ...input, ...(await scopeOf(store, input, field)) });
  const rows = new Map(existing.map((row) => [row.name, row]));
  await change(
    inside,
    desired.flatMap((variable) =>
      rows.has(variable.name) ? [{ row: rows.get(variable.name)!, change: variable }] : [],
    ),
  );
  const added = desired.filter(({ name }) => !rows.has(name));
  if (added.length > 0) await add(inside, added);
}
