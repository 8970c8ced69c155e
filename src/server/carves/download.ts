// Streams the archive of a carve block by block from the blob store.
import type { Readable } from "node:stream";
import type { Streamed } from "../../api/endpoint.ts";
import type { Context } from "../core/context.ts";
import { ApiError, badRequest, conflict, failed } from "../core/errors.ts";
import { type Part, partOf } from "../core/http/byte-range.ts";
import type { Reply } from "../core/http/route.ts";
import { type Blobs, NoSuchBlob } from "../store/blobs/blobs.ts";
import { blockKey, type CarveRow, errorOf, isComplete, isExpired, lengthOfBlock, missingBlock } from "./rules.ts";
import { carveRow } from "./service.ts";

const ZSTANDARD = [0x28, 0xb5, 0x2f, 0xfd];

export async function downloadCarve(ctx: Context, id: number, reply: Reply): Promise<Streamed> {
  const carve = await carveRow(ctx, id);
  const { max_block, block_count, carve_size: size } = carve;
  const error = errorOf(carve, ctx.clock.now());
  if (isExpired(carve, ctx.clock.now())) throw badRequest("cannot download an expired carve");
  if (error !== null) throw conflict(`the carve failed: ${error}`);
  if (!isComplete(carve))
    throw conflict(`the carve is not complete: ${max_block + 1} of ${block_count} blocks have arrived`);

  // A complete carve never changes, so session and last block identify its content.
  const etag = `"${carve.id}-${carve.session_id}-${carve.last_block_hash.slice(0, 32)}"`;
  const headers: Record<string, string> = { "accept-ranges": "bytes", etag };
  const part = partOf(ctx.headers, size, etag);
  if (part === "none") {
    reply.status = 416;
    return refusal(ctx, size, headers);
  }
  if (part !== "whole") {
    reply.status = 206;
    headers["content-range"] = `bytes ${part.start}-${part.end}/${size}`;
  }
  const { start, end } = part === "whole" ? { start: 0, end: size - 1 } : part;
  await checkStored(ctx.blobs, carve, { start, end });
  headers["content-length"] = String(end - start + 1);
  headers["content-disposition"] = `attachment; filename="${await fileName(ctx.blobs, carve)}"`;
  return { body: streamOf(bytesOf(ctx.blobs, carve, { start, end })), headers };
}

function refusal(ctx: Context, size: number, headers: Record<string, string>): Streamed {
  const { message, errors } = new ApiError(416, "Range Not Satisfiable", [
    { name: "range", reason: `the archive has ${size} bytes` },
  ]);
  const body = new TextEncoder().encode(JSON.stringify({ message, errors, uuid: ctx.requestId }));
  return {
    body: streamOf(one(body)),
    headers: { ...headers, "content-type": "application/json; charset=utf-8", "content-range": `bytes */${size}` },
  };
}

/** Reports missing blocks before the reply starts, as far as the first and last block show. */
async function checkStored(blobs: Blobs, carve: CarveRow, { start, end }: Part): Promise<void> {
  for (const block of new Set([blockAt(carve, start), blockAt(carve, end)])) {
    const info = await blobs.stat(blockKey(carve.id, block));
    if (!info) throw missingBlock(block);
    if (info.size !== lengthOfBlock(carve, block)) throw failed(`block ${block} does not have its stored size`);
  }
}

const blockAt = ({ block_size }: CarveRow, byte: number): number => Math.floor(byte / block_size);

async function fileName(blobs: Blobs, carve: CarveRow): Promise<string> {
  const head: number[] = [];
  for await (const chunk of await blobs.get(blockKey(carve.id, 0), { start: 0, end: 3 }))
    head.push(...(chunk as Buffer));
  const isCompressed = ZSTANDARD.every((byte, i) => head[i] === byte);
  return `${carve.name.replace(/[^\w.-]+/g, "_").slice(0, 200)}.tar${isCompressed ? ".zst" : ""}`;
}

async function* bytesOf(blobs: Blobs, carve: CarveRow, { start, end }: Part): AsyncGenerator<Uint8Array> {
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

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** An error aborts the connection: since Content-Length was sent, the client notices the missing part. */
function streamOf(source: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await source.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await source.return(undefined);
      },
    },
    { highWaterMark: 1 },
  );
}
