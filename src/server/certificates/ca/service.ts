import type { Ca, CaItem, ChangeCa, CreateCa } from "../../../api/certificates/ca.ts";
import { recordActivity } from "../../platform/activities/record.ts";
import { type Context, within } from "../../platform/core/context.ts";
import { alreadyExists, conflict, invalid, notFound } from "../../platform/core/errors.ts";
import type { ServerTx } from "../../platform/core/tables.ts";
import { eq, everything } from "../../platform/store/query.ts";
import { ReferenceViolation, UniqueViolation } from "../../platform/store/store.ts";
import { checkLive } from "./live-check.ts";
import {
  authorityFrom,
  type CaRow,
  changed,
  checkAddresses,
  type DesiredAuthority,
  getCaRow,
  isOnlyRenamed,
  itemOf,
  sameAs,
  theObject,
  wholeCa,
} from "./rules.ts";

/** The lock that serializes changes, so that each change is based on the current data. */
export const CERTIFICATE_AUTHORITIES_LOCK = "certificate authorities";

export interface Checking {
  readonly skip_check: boolean;
}

export async function listCas({ store }: Context): Promise<{ certificate_authorities: CaItem[] }> {
  const rows = await store.certificateAuthorities.pick(["id", "name", "type"], {
    where: everything,
    order: [{ column: "name", direction: "asc" }],
  });
  return { certificate_authorities: rows.map(itemOf) };
}

export const getCa = async (ctx: Context, id: number): Promise<Ca> => wholeCa(await getCaRow(ctx, id));

export async function createCa(ctx: Context, body: CreateCa, { skip_check: skip }: Checking): Promise<CaItem> {
  const { type, settings } = theObject(body);
  const authority = authorityFrom(type, settings);
  // Checked before the live check, so that a caller with a taken name need not wait for it.
  await checkNameFree(ctx.store, authority.name);
  await checkAddresses(ctx, undefined, authority);
  if (!skip) await checkLive(ctx, authority);
  return nameTaken(authority.name, () =>
    ctx.store.tx(
      async (store) => {
        await checkNameFree(store, authority.name);
        return itemOf(await addCa(within(ctx, store), authority));
      },
      { lock: CERTIFICATE_AUTHORITIES_LOCK },
    ),
  );
}

export async function modifyCa(
  ctx: Context,
  id: number,
  body: ChangeCa,
  { skip_check: skip }: Checking,
): Promise<Record<string, never>> {
  const { type, settings } = theObject(body);
  const row = await getCaRow(ctx, id);
  if (type !== row.type) throw invalid(type, `this certificate authority is a ${row.type}: that cannot be changed`);
  const authority = changed(row, settings);
  if (sameAs(row, authority)) return {};
  await checkNameFree(ctx.store, authority.name, id);
  await checkAddresses(ctx, row, authority);
  if (!skip && !isOnlyRenamed(row, authority)) await checkLive(ctx, authority);
  await nameTaken(authority.name, () =>
    ctx.store.tx(
      async (store) => {
        // The live check tested the row that was read, so a concurrent change must not be overwritten.
        const now = await getCaRow({ store }, id);
        if (now.revision !== row.revision) throw conflict("the certificate authority was changed meanwhile; try again");
        await checkNameFree(store, authority.name, id);
        await changeCa(within(ctx, store), row, authority);
      },
      { lock: CERTIFICATE_AUTHORITIES_LOCK },
    ),
  );
  return {};
}

/** 409 while certificate templates use the authority: deleting it would remove them from their hosts. */
export const deleteCa = async (ctx: Context, id: number): Promise<Record<string, never>> => {
  await unlessInUse(() =>
    ctx.store.tx(async (store) => {
      const inside = within(ctx, store);
      await removeCa(inside, await getCaRow(inside, id));
    }),
  );
  return {};
};

/** Call this in a transaction. */
export async function removeCa(ctx: Context, row: CaRow): Promise<void> {
  const where = eq("certificate_authority_id", row.id);
  const using = await ctx.store.certificateTemplates.pick(["name"], { where, limit: 3 });
  if (using.length > 0) throw inUse(using.map(({ name }) => name));
  const gone = await unlessInUse(() => ctx.store.certificateAuthorities.delete(eq("id", row.id)));
  if (gone === 0) throw notFound("certificate authority", row.id);
  await recordChange(ctx, "deleted", row);
}

const inUse = (names: readonly string[]) =>
  conflict(`certificate templates use this certificate authority${names.length > 0 ? `: ${names.join(", ")}` : ""}`);

async function unlessInUse<R>(work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ReferenceViolation) throw inUse([]);
    throw error;
  }
}

/** Call this in a transaction. */
export async function addCa(ctx: Context, { type, name, settings, secret }: DesiredAuthority): Promise<CaRow> {
  const now = ctx.clock.iso();
  const row = await ctx.store.certificateAuthorities.insert({
    created_at: now,
    updated_at: now,
    name,
    type,
    settings,
    secret,
  });
  await recordChange(ctx, "added", row);
  return row;
}

/** Call this in a transaction. */
export async function changeCa(ctx: Context, row: CaRow, { name, settings, secret }: DesiredAuthority): Promise<void> {
  await ctx.store.certificateAuthorities.update({
    where: eq("id", row.id),
    set: { name, settings, secret, updated_at: ctx.clock.iso() },
  });
  await recordChange(ctx, "edited", { ...row, name });
}

async function recordChange(
  ctx: Context,
  what: "added" | "edited" | "deleted",
  { type, name }: Pick<CaRow, "type" | "name">,
): Promise<void> {
  if (type === "directory_scep_proxy") await recordActivity(ctx, `${what}_${type}`, {});
  else await recordActivity(ctx, `${what}_${type}`, { name });
}

async function checkNameFree(store: ServerTx, name: string, but = 0): Promise<void> {
  const holder = await store.certificateAuthorities.first({ where: eq("name", name) });
  if (holder && holder.id !== but) throw taken(name);
}
const taken = (name: string) => alreadyExists(`a certificate authority with the name ${name} exists`);

/** 409 also if a concurrent request took the name first. */
export async function nameTaken<R>(name: string, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UniqueViolation && error.table === "certificate_authorities") throw taken(name);
    throw error;
  }
}
