import { buffer } from "node:stream/consumers";
import type { z } from "zod";
import type { Carve, carvesApi } from "../../../api/checks/carves.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError, badRequest, failed, notFound } from "../../platform/core/errors.ts";
import { page } from "../../platform/core/http/paging.ts";
import { NoSuchBlob } from "../../platform/store/blobs/blobs.ts";
import { and, eq, everything } from "../../platform/store/query.ts";
import { alive, blockKey, type CarveRow, errorOf, isExpired, lengthOfBlock, missingBlock } from "./rules.ts";

export async function listCarves({ store, clock }: Context, query: z.output<typeof carvesApi.list.query>) {
  const now = clock.now();
  const where = and(
    query.expired ? everything : alive(now),
    query.host_id === undefined ? everything : eq("host_id", query.host_id),
    query.carve_id === undefined ? everything : eq("carve_id", query.carve_id),
  );
  const { rows, meta } = await page(store.carves, query, where);
  return { carves: rows.map((row) => carveOf(row, now)), meta };
}

export async function getCarve(ctx: Context, id: number): Promise<Carve> {
  return carveOf(await carveRow(ctx, id), ctx.clock.now());
}

export async function carveRow({ store }: Context, id: number): Promise<CarveRow> {
  const carve = await store.carves.get(id);
  if (!carve) throw notFound("carve", id);
  return carve;
}

/** One block as base64, with the error texts of the agents' protocol. */
export async function getBlock(ctx: Context, id: number, blockId: number): Promise<{ data: string }> {
  const carve = await carveRow(ctx, id);
  if (isExpired(carve, ctx.clock.now())) throw badRequest("cannot get block for expired carve");
  if (blockId > carve.max_block)
    throw new ApiError(404, "Resource Not Found", [{ name: "base", reason: `block ${blockId} not yet available` }]);
  const stored = await ctx.blobs.get(blockKey(id, blockId)).catch((error: unknown) => {
    throw error instanceof NoSuchBlob ? missingBlock(blockId) : error;
  });
  const bytes = await buffer(stored);
  if (bytes.length !== lengthOfBlock(carve, blockId)) throw failed(`block ${blockId} does not have its stored size`);
  return { data: bytes.toString("base64") };
}

function carveOf(row: CarveRow, now: number): Carve {
  const { id, created_at, host_id, name, block_count, block_size, carve_size } = row;
  const { carve_id, request_id, session_id, max_block } = row;
  const error = errorOf(row, now);
  return {
    id,
    created_at,
    host_id,
    name,
    block_count,
    block_size,
    carve_size,
    carve_id,
    request_id,
    session_id,
    expired: isExpired(row, now),
    max_block,
    ...(error === null ? {} : { error }),
  };
}
