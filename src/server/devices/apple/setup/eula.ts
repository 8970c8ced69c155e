// The license agreement that users see before their device enrolls.
import type { Download, StoredFile } from "../../../../api/bodies.ts";
import type { Eula } from "../../../../api/devices/eula.ts";
import { recordActivity } from "../../../platform/activities/record.ts";
import { type Context, within } from "../../../platform/core/context.ts";
import { badRequest, conflict, notThere } from "../../../platform/core/errors.ts";
import type { ServerTx } from "../../../platform/core/tables.ts";
import { downloadOf, startOf } from "../../../platform/files/service.ts";
import { eq, everything } from "../../../platform/store/query.ts";
import { UniqueViolation } from "../../../platform/store/store.ts";
import type { RowOf } from "../../../platform/store/table.ts";
import { requireAppleMdm } from "../../gate.ts";
import type { eulas } from "./tables.ts";

/** Other bytes may come before the magic of a PDF file. */
const MAGIC = { text: "%PDF-", within: 1024 } as const;

export const hasOne = () => conflict("there is a license agreement already: delete it first");

export async function addEula(ctx: Context, file: StoredFile): Promise<Record<string, never>> {
  await requireAppleMdm(ctx);
  if ((await ctx.store.eulas.count()) > 0) throw hasOne();
  await checkPdf(ctx, file);
  await ctx.store.tx((store) => keepEula(within(ctx, store), { name: file.name || "eula.pdf", file_id: file.id }));
  return {};
}

export type EulaRow = RowOf<typeof eulas>;

/** Call it in a transaction. 409 if there is one already. */
export async function keepEula(inside: Context, eula: Pick<EulaRow, "name" | "file_id">): Promise<void> {
  const token = inside.random.token(32);
  try {
    await inside.store.eulas.insert({ slot: "eula", created_at: inside.clock.iso(), token, ...eula });
  } catch (error) {
    throw error instanceof UniqueViolation ? hasOne() : error;
  }
  await recordActivity(inside, "added_eula", { name: eula.name });
}

export async function dropEula(inside: Context, { id, name }: EulaRow): Promise<void> {
  await inside.store.eulas.delete(eq("id", id));
  await recordActivity(inside, "deleted_eula", { name });
}

/** 400 if it is no PDF file. */
export async function checkPdf(ctx: Context, { id, size }: Pick<StoredFile, "id" | "size">): Promise<void> {
  if (size === 0) throw badRequest("the file is empty", "eula");
  if (!(await startOf(ctx, id, MAGIC.within)).includes(MAGIC.text))
    throw badRequest("the file is not a PDF file", "eula");
}

export async function eulaToken(store: ServerTx): Promise<string | null> {
  const [row] = await store.eulas.pick(["token"], { where: everything, limit: 1 });
  return row?.token ?? null;
}

export async function describeEula(ctx: Context): Promise<Eula> {
  await requireAppleMdm(ctx);
  const [row] = await ctx.store.eulas.list({ where: everything, limit: 1 });
  if (!row) throw notThere("there is no license agreement");
  const { name, token, created_at, file_id } = row;
  return { name, token, created_at, sha256: (await ctx.store.files.get(file_id))!.sha256 };
}

async function eulaOf({ store }: Pick<Context, "store">, token: string): Promise<EulaRow> {
  const row = await store.eulas.first({ where: eq("token", token) });
  if (!row) throw notThere("no license agreement has this token");
  return row;
}

export async function downloadEula(ctx: Context, token: string): Promise<Download> {
  await requireAppleMdm(ctx);
  const { file_id, name } = await eulaOf(ctx, token);
  return downloadOf(ctx, file_id, { name, type: "application/pdf" });
}

export async function deleteEula(ctx: Context, token: string): Promise<Record<string, never>> {
  await requireAppleMdm(ctx);
  await ctx.store.tx(async (store) => {
    await dropEula(within(ctx, store), await eulaOf({ store }, token));
  });
  return {};
}
