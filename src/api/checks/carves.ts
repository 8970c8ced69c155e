import { z } from "zod";
import { Download } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Id, IdParam, Meta, pagingAfter, QueryFlag, QueryId, Timestamp } from "../fields.ts";

export const Carve = z.object({
  id: Id,
  created_at: Timestamp,
  host_id: Id,
  name: z.string(),
  block_count: z.int(),
  block_size: z.int().meta({ description: "bytes" }),
  carve_size: z.int().meta({ description: "bytes" }),
  carve_id: z.string(),
  request_id: z.string(),
  session_id: z.string(),
  expired: z.boolean(),
  max_block: z.int().meta({ description: "number of the last block received; -1: none. Complete at block_count - 1" }),
  error: z.string().optional().meta({ description: "present only when the carve failed" }),
});
export type Carve = z.infer<typeof Carve>;

const BlockParam = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine((text) => /^\d{1,15}$/.test(text), { error: "must be 0 or more" })
  .transform(Number)
  .meta({ type: "integer", minimum: 0 });

export const carvesApi = {
  list: endpoint({
    method: "GET",
    path: "/carves",
    summary: "List file carves.",
    access: { action: "carves:read", scope: "global" },
    query: pagingAfter(
      "id",
      "created_at",
      "host_id",
      "name",
      "block_count",
      "block_size",
      "carve_size",
      "carve_id",
      "request_id",
      "session_id",
      "expired",
      "max_block",
      "error",
    ).extend({
      expired: QueryFlag.default(false).meta({ description: "include carves whose contents were deleted" }),
      host_id: QueryId.optional().meta({ description: "only carves of this host" }),
      carve_id: z.string().max(255).optional().meta({ description: "the carve_guid that the host's query returned" }),
    }),
    response: z.object({ carves: z.array(Carve), meta: Meta }),
  }),
  get: endpoint({
    method: "GET",
    path: "/carves/:id",
    summary: "Show one carve.",
    access: { action: "carves:read", scope: "global" },
    params: z.object({ id: IdParam }),
    response: z.object({ carve: Carve }),
  }),
  block: endpoint({
    method: "GET",
    path: "/carves/:id/block/:block_id",
    summary: "Get one block of a carve, as base64.",
    access: { action: "carves:read", scope: "global" },
    params: z.object({ id: IdParam, block_id: BlockParam }),
    response: z.object({ data: z.string() }),
  }),
  download: endpoint({
    method: "GET",
    path: "/carves/:id/download",
    summary:
      "Download the whole archive of a carve: a tar file, or one compressed with Zstandard. Supports the Range header.",
    access: { action: "carves:read", scope: "global" },
    params: z.object({ id: IdParam }),
    produces: "application/octet-stream",
    response: Download,
  }),
};
