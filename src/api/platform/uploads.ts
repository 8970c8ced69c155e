// Upload sessions: a large file arrives in pieces, and continues where it was interrupted. PATCH and HEAD follow the
// core protocol of tus 1.0.0 (https://tus.io/protocols/resumable-upload).
import { z } from "zod";
import { fileNameOf, MiB, stream } from "../bodies.ts";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, Meta, pagingAfter, QueryFlag, Timestamp } from "../fields.ts";

export const UPLOAD_MAX = 10 * 1024 * MiB;
export const OFFSET_TYPE = "application/offset+octet-stream";
export const UPLOAD_OFFSET = "Upload-Offset";
export const UPLOAD_LENGTH = "Upload-Length";
/** The SHA-256 digest of the whole upload (RFC 9530), with its last piece, if it was not known at the beginning. */
export const REPR_DIGEST = "Repr-Digest";
/** The protocol's version, in the replies that follow it. */
export const TUS_RESUMABLE = { "Tus-Resumable": "1.0.0" };

export const Upload = z.object({
  id: Id,
  created_at: Timestamp,
  expires_at: Timestamp.meta({ description: "24 hours after the last piece arrived; the session is then removed" }),
  name: z.string(),
  size: z.int().meta({ description: "bytes" }),
  modified_at: Timestamp.nullable().meta({ description: "modification time of the file, as the client has sent it" }),
  sha256: z.string().nullable().meta({ description: "in hex; null if it was not sent, until the upload is complete" }),
  received: z.int().meta({ description: "number of bytes that have arrived; complete if it is the size" }),
  user_id: Id,
  user_name: z.string(),
});
export type Upload = z.infer<typeof Upload>;

export const CreateUpload = z.object({
  name: z.string().max(4096).transform(fileNameOf),
  size: z.int().min(1).max(UPLOAD_MAX).meta({ description: "bytes" }),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/i, { error: "must be a SHA-256 digest in hex" })
    .transform((digest) => digest.toLowerCase())
    .optional()
    .meta({ description: `of the whole content; without it, the last piece may have it in ${REPR_DIGEST}` }),
  modified_at: z.iso
    .datetime()
    .transform((time) => new Date(time).toISOString())
    .optional()
    .meta({ description: "modification time of the file, by which it is recognized without a digest" }),
});
export type CreateUpload = z.output<typeof CreateUpload>;

const OffsetHeaders = z.object({
  [UPLOAD_OFFSET]: z.string().meta({ description: "number of bytes that have arrived before, as HEAD returns it" }),
  [REPR_DIGEST]: z
    .string()
    .optional()
    .meta({ description: "with the last piece: the SHA-256 digest of the whole upload (RFC 9530)" }),
});

const access = { action: "files:upload", scope: "team" } as const;
const params = z.object({ id: IdParam });

export const uploadsApi = {
  list: endpoint({
    method: "GET",
    path: "/uploads",
    summary: "List your own upload sessions; as a global admin also those of all users.",
    access,
    query: pagingAfter("id", "created_at", "expires_at", "name", "size", "received").extend({
      all_users: QueryFlag.default(false).meta({ description: "the sessions of all users; for global admins" }),
    }),
    response: z.object({ uploads: z.array(Upload), meta: Meta }),
  }),
  create: endpoint({
    method: "POST",
    path: "/uploads",
    summary: "Begin to upload a large file in pieces, or continue the session that you have for the same file.",
    access,
    body: CreateUpload,
    status: 201,
    otherStatus: [200],
    response: z.object({ upload: Upload }),
  }),
  get: endpoint({
    method: "GET",
    path: "/uploads/:id",
    summary: "Get an upload session. HEAD has how much has arrived in Upload-Offset, and the size in Upload-Length.",
    access,
    params,
    hasHead: true,
    response: z.object({ upload: Upload }),
  }),
  append: endpoint({
    method: "PATCH",
    path: "/uploads/:id",
    summary: "Send the next piece of an upload, of any size. What has arrived before an interruption is kept.",
    access,
    params,
    headers: OffsetHeaders,
    body: stream({ limit: UPLOAD_MAX, type: OFFSET_TYPE }),
    status: 204,
    dryRun: "it stores a file",
    response: Empty,
  }),
  remove: endpoint({
    method: "DELETE",
    path: "/uploads/:id",
    summary:
      "Remove an upload session; as a global admin also one of another user. A file that something refers to is kept.",
    access,
    params,
    response: Empty,
  }),
};
