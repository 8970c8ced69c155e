// Streams the archive of a carve block by block from the blob store.
import type { Readable } from "node:stream";
import type { Download, Range } from "../../../api/bodies.ts";
import type { Context } from "../../platform/core/context.ts";
import { badRequest, conflict, failed } from "../../platform/core/errors.ts";
import { type Blobs, NoSuchBlob } from "../../platform/store/blobs/blobs.ts";
import { blockKey, type CarveRow, errorOf, isComplete, isExpired, lengthOfBlock, missingBlock } from "./rules.ts";
import { carveRow } from "./service.ts";

const ZSTANDARD = [0x28, 0xb5, 0x2f, 0xfd];

export async function downloadCarve(ctx: Context, id: number): Promise<Download> {
  const carve = await carveRow(ctx, id);
  const { max_block, block_count, carve_size: size } = carve;
  const error = errorOf(carve, ctx.clock.now());
  if (isExpired(carve, ctx.clock.now())) throw badRequest("cannot download an expired carve");
  if (error !== null) throw conflict(`the carve failed: ${error}`);
  if (!isComplete(carve))
    throw conflict(`the carve is not complete: ${max_block + 1} of ${block_count} blocks have arrived`);

  return {
    size,
    // A complete carve never changes, so session and last block identify its content.
    etag: `"${carve.id}-${carve.session_id}-${carve.last_block_hash.slice(0, 32)}"`,
    name: await fileName(ctx.blobs, carve),
    async open(range) {
      await checkStored(ctx.blobs, carve, range);
      return bytesOf(ctx.blobs, carve, range);
    },
  };
}

/** Reports missing blocks before the reply starts, as far as the first and last block show. */
async function checkStored(blobs: Blobs, carve: CarveRow, { start, end }: Range): Promise<void> {
  for (const block of new Set([blockAt(carve, start), blockAt(carve, end)])) {
    const info = await blobs.stat(blockKey(carve.id, block));
    if (!info) throw missingBlock(block);
    if (info.size !== lengthOfBlock(carve, block)) throw failed(`block ${block} does not have its stored size`);
  }
}

const blockAt = ({ block_size }: CarveRow, byte: number): number => Math.floor(byte / block_size);

async function fileName(blobs: Blobs, carve: CarveRow): Promise<string> {
  const head: number[] = [];
  const first = await blobs.get(blockKey(carve.id, 0), { start: 0, end: 3 }).catch((error: unknown) => {
    throw error instanceof NoSuchBlob ? missingBlock(0) : error;
  });
  for await (const chunk of first) head.push(...(chunk as Buffer));
  const isCompressed = ZSTANDARD.every((byte, i) => head[i] === byte);
  return `${carve.name.replace(/[^\w.-]+/g, "_").slice(0, 200)}.tar${isCompressed ? ".zst" : ""}`;
}

async function* bytesOf(blobs: Blobs, carve: CarveRow, { start, end }: Range): AsyncGenerator<Uint8Array> {
  for (let block = blockAt(carve, start); block <= blockAt(carve, end); block++) {
    const from = block * carve.block_size;
    const first = Math.max(0, start - from);
    const last = Math.min(lengthOfBlock(carve, block) - 1, end - from);
    let size = 0;
    const content: Readable = await blobs.get(blockKey(carve.id, block), { start: first, end: last });
    for await (const chunk of content) {
      size += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
    if (size !== last - first + 1) throw new NoSuchBlob(`${blockKey(carve.id, block)} (whole)`);
  }
}
