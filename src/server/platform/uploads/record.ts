// Records what has arrived of an upload.
import { type Context, within } from "../core/context.ts";
import { badRequest } from "../core/errors.ts";
import { expiryFrom, moved, type UploadRow, unmoved } from "./service.ts";

/**
 * A longer body is recorded in several pieces, so that little of it is lost in a crash. Buckets take this size with one
 * request.
 */
export const PIECE_BYTES = 8 * 1024 * 1024;

export const tooMany = ({ size }: UploadRow) => badRequest(`the upload has only ${size} bytes`);

/**
 * Records that the upload has arrived up to this position, and the blob that begins with these bytes, if there is one.
 * Throws 409 if another request was first.
 */
export async function recordArrived(
  ctx: Context,
  upload: UploadRow,
  received: number,
  begun: { readonly start: number; readonly key: string } | null,
): Promise<UploadRow> {
  const set = { received, expires_at: expiryFrom(ctx.clock.now()) };
  await ctx.store.tx(async (tx) => {
    if ((await tx.uploads.update({ where: unmoved(upload), set })) === 0) throw await moved(within(ctx, tx), upload);
    if (begun !== null) await tx.uploadPieces.insert({ upload_id: upload.id, ...begun });
  });
  return { ...upload, ...set };
}
