// Named API tokens: they expire, and can be limited to certain endpoints.
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Empty, Id, IdParam, isOneLine, Meta, NOT_ONE_LINE, paging, QueryId, Timestamp } from "../fields.ts";

export const ApiToken = z.object({
  id: Id,
  user_id: Id,
  name: z.string(),
  created_at: Timestamp,
  accessed_at: Timestamp.nullable().meta({ description: "when it was last used, to the minute; null: never" }),
  expires_at: Timestamp,
  endpoints: z
    .array(z.string())
    .nullable()
    .meta({ description: "the only endpoints that it may call; null: all that its user may call" }),
  address: z.string().meta({ description: "address from which it was created" }),
});
export type ApiToken = z.infer<typeof ApiToken>;

export const CreateToken = z.object({
  name: z.string().trim().min(1).max(100).refine(isOneLine, { error: NOT_ONE_LINE }),
  expires_in: z
    .union([z.string().max(20), z.int().positive()])
    .optional()
    .meta({ description: "duration such as 12h or 30d; bare numbers are seconds" }),
  expires_at: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: "at most two years from now; default: 90 days from now" }),
  endpoints: z
    .array(z.string().max(200))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: "the only endpoints that it may call: GET /hosts, POST /spec/*" }),
  user_id: Id.optional().meta({ description: "an API-only user that the caller manages; default: the caller" }),
});
export type CreateToken = z.output<typeof CreateToken>;

const params = z.object({ id: IdParam });

export const tokensApi = {
  list: endpoint({
    method: "GET",
    path: "/tokens",
    summary: "List API tokens: your own, or those of a user that you manage.",
    access: "user",
    query: paging("id", "name", "created_at", "accessed_at", "expires_at").extend({ user_id: QueryId.optional() }),
    response: z.object({ tokens: z.array(ApiToken), meta: Meta }),
  }),
  create: endpoint({
    method: "POST",
    path: "/tokens",
    summary: "Create an API token.",
    access: "user",
    body: CreateToken,
    response: ApiToken.extend({ token: z.string().meta({ description: "returned only once" }) }),
  }),
  delete: endpoint({
    method: "DELETE",
    path: "/tokens/:id",
    summary: "Delete an API token.",
    access: "user",
    params,
    response: Empty,
  }),
};
