// Upload sessions. Each belongs to the user who has begun it; for others than global admins it does not exist.
import type { z } from "zod";
import type { CreateUpload, Upload, uploadsApi } from "../../../api/platform/uploads.ts";
import { recordActivity } from "../activities/record.ts";
import { hours, isoAt } from "../core/clock.ts";
import { type Context, type Services, within } from "../core/context.ts";
import { conflict, forbiddenFor, notFound } from "../core/errors.ts";
import type { UploadedFile } from "../core/http/bodies/multipart.ts";
import { page } from "../core/http/paging.ts";
import { may } from "../core/security/access.ts";
import { filesOf, useFile } from "../files/service.ts";
import { deleteAll } from "../store/blobs/blobs.ts";
import { and, eq, gt, isNull, not, oneOf, type Predicate } from "../store/query.ts";
import type { RowOf } from "../store/table.ts";
import { checkQuotas } from "./quotas.ts";
import type { uploads } from "./tables.ts";

export type UploadRow = RowOf<typeof uploads>;
type Caller = Pick<Context, "store" | "clock" | "user">;

/** A session is removed if nothing has arrived for this long. */
const KEPT_FOR = hours(24);
/** Unfinished sessions of one user. */
const MAX_OPEN = 20;
/** Blobs of pieces. */
export const PIECE_KEYS = "uploads/";
export const piecesOf = (id: number): string => `${PIECE_KEYS}${id}/`;

export const expiryFrom = (now: number): string => isoAt(now + KEPT_FOR);

const alive = ({ clock }: Pick<Caller, "clock">): Predicate => gt("expires_at", clock.iso());
const ownUploads = (caller: Caller): Predicate => and(eq("user_id", caller.user.id), alive(caller));

export async function listUploads(ctx: Context, { all_users, ...query }: z.output<typeof uploadsApi.list.query>) {
  if (all_users && !may(ctx.user, "files:manage", null))
    throw forbiddenFor("only global admins may see the uploads of all users");
  const { rows, meta } = await page(ctx.store.uploads, query, all_users ? alive(ctx) : ownUploads(ctx));
  return { uploads: await uploadsOnWire(ctx, rows), meta };
}

export async function getUpload(ctx: Caller, id: number): Promise<Upload> {
  const [upload] = await uploadsOnWire(ctx, [await visibleUpload(ctx, id)]);
  return upload!;
}

/** Throws 404 for sessions that the caller may not see, and for those that have expired. */
async function visibleUpload(ctx: Caller, id: number): Promise<UploadRow> {
  const visible = may(ctx.user, "files:manage", null) ? alive(ctx) : ownUploads(ctx);
  const upload = await ctx.store.uploads.first({ where: and(eq("id", id), visible) });
  if (upload === null) throw notFound("upload", id);
  return upload;
}

async function uploadsOnWire({ store }: Caller, rows: readonly UploadRow[]): Promise<Upload[]> {
  const userIds = [...new Set(rows.map(({ user_id }) => user_id))];
  const names = new Map(
    (await store.users.pick(["id", "name"], { where: oneOf("id", userIds) })).map((u) => [u.id, u]),
  );
  return rows.map(
    ({ id, created_at, expires_at, name, size, modified_at, sha256, received, user_id }): Upload => ({
      id,
      created_at,
      expires_at,
      name,
      size,
      modified_at,
      sha256,
      received,
      user_id,
      user_name: names.get(user_id)?.name ?? "",
    }),
  );
}

/** Throws 404 for sessions of others, and for those that have expired. */
export async function ownUpload(ctx: Caller, id: number): Promise<UploadRow> {
  const upload = await ctx.store.uploads.first({ where: and(eq("id", id), ownUploads(ctx)) });
  if (upload === null) throw notFound("upload", id);
  return upload;
}

/** Optimistic lock: another request may have stored the same bytes meanwhile. */
export const unmoved = ({ id, received }: UploadRow): Predicate =>
  and(eq("id", id), eq("received", received), isNull("file_id"));

export const movedTo = ({ received }: UploadRow) => conflict(`${received} bytes have arrived: send what follows them`);

/** The error for a request that another one has outrun. Throws 404 if the session is gone. */
export const moved = async (ctx: Caller, { id }: UploadRow) => movedTo(await ownUpload(ctx, id));

/**
 * A new session, or the one that the user has for this content already. Without a digest, the content is recognized by
 * the file's name, size and modification time; the digest that follows the last piece decides whether it is the same.
 */
export async function beginUpload(
  ctx: Context,
  { name, size, ...file }: CreateUpload,
): Promise<{ upload: Upload; isNew: boolean }> {
  const { store, user, clock, blobs } = ctx;
  await blobs.checkRoom(size);
  const sha256 = file.sha256 ?? null;
  const modified_at = file.modified_at ?? null;
  return store.tx(
    async (tx) => {
      const inside = within(ctx, tx);
      const same = sha256 === null ? sameFile(name, modified_at) : eq("sha256", sha256);
      const existing = same && (await tx.uploads.first({ where: and(ownUploads(inside), eq("size", size), same) }));
      if (existing !== null) {
        if (existing.name !== name) await tx.uploads.update({ where: eq("id", existing.id), set: { name } });
        const [upload] = await uploadsOnWire(inside, [{ ...existing, name }]);
        return { upload: upload!, isNew: false };
      }
      const open = await tx.uploads.count(and(ownUploads(inside), isNull("file_id")));
      if (open >= MAX_OPEN)
        throw conflict(`you have ${open} unfinished uploads; finish or delete one of them, or wait until they expire`);
      await checkQuotas(inside, size);
      const now = clock.now();
      const times = { created_at: isoAt(now), expires_at: expiryFrom(now) };
      const row = await tx.uploads.insert({ user_id: user.id, name, size, sha256, modified_at, ...times });
      const [upload] = await uploadsOnWire(inside, [row]);
      return { upload: upload!, isNew: true };
    },
    // One lock for all users, because they share the quotas of their teams.
    { lock: "uploads" },
  );
}

const sameFile = (name: string, modified_at: string | null): Predicate | null =>
  modified_at === null ? null : and(eq("name", name), eq("modified_at", modified_at));

export async function removeUpload(ctx: Context, id: number): Promise<Record<string, never>> {
  const { store, blobs, user } = ctx;
  const { name, size, user_id } = await visibleUpload(ctx, id);
  await store.tx(async (tx) => {
    await tx.uploads.delete(eq("id", id));
    if (user_id === user.id) return;
    const [owner] = await tx.users.pick(["name"], { where: eq("id", user_id) });
    const details = { upload_id: id, upload_name: name, upload_size: size, user_id, user_name: owner?.name ?? "" };
    await recordActivity(within(ctx, tx), "deleted_upload", details);
  });
  await deletePieces(blobs, id);
  return {};
}

export const deletePieces = (blobs: Services["blobs"], id: number): Promise<number> =>
  deleteAll(blobs, blobs.list(piecesOf(id)));

/** The file of a complete session of the caller. It is not removed before the request that uses it has ended. */
export async function uploadedFile(ctx: Context, id: number): Promise<UploadedFile> {
  const upload = await ownUpload(ctx, id);
  if (upload.file_id === null)
    throw conflict(`only ${upload.received} of ${upload.size} bytes of the upload ${id} have arrived`);
  const { id: fileId, size, sha256, key } = await useFile(ctx, upload.file_id);
  return { id: fileId, size, sha256, name: upload.name, open: () => ctx.blobs.get(key) };
}

/** The ids of files with these digests that the caller has uploaded, by digest. */
export async function completeUploads(ctx: Caller, digests: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const where = and(ownUploads(ctx), oneOf("sha256", digests), not(isNull("file_id")));
  const rows = await ctx.store.uploads.pick(["sha256"], { where });
  return filesOf(
    ctx,
    rows.flatMap(({ sha256 }) => sha256 ?? []),
  );
}
