// SCIM 2.0 (RFC 7643, RFC 7644): identity providers keep the people who use hosts, and their groups, up to date here.
import { z } from "zod";
import { MiB } from "../bodies.ts";
import { endpoint, SCIM } from "../endpoint.ts";
import { Empty, QueryInt } from "../fields.ts";

export const scimUrns = {
  user: "urn:ietf:params:scim:schemas:core:2.0:User",
  enterprise: "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User",
  group: "urn:ietf:params:scim:schemas:core:2.0:Group",
  list: "urn:ietf:params:scim:api:messages:2.0:ListResponse",
  patch: "urn:ietf:params:scim:api:messages:2.0:PatchOp",
  error: "urn:ietf:params:scim:api:messages:2.0:Error",
} as const;

const short = z.string().max(255);
/** Whether a text has no control characters and no lone surrogates. */
export const isScimText = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text);
export const NOT_SCIM_TEXT = "must not contain control characters";
const text = short.refine(isScimText, { error: NOT_SCIM_TEXT });
const name = short.trim().min(1).refine(isScimText, { error: NOT_SCIM_TEXT });
const Urns = z.array(short).max(20).optional();
const Meta = z.object({
  resourceType: z.string(),
  created: z.string(),
  lastModified: z.string(),
  location: z.string(),
});
/** Some identity providers send truth values as texts: "True". */
const Flag = z.union([
  z.boolean(),
  z
    .string()
    .regex(/^(true|false)$/i)
    .transform((text) => text.toLowerCase() === "true"),
]);

const ScimEmail = z.looseObject({ value: text.min(1), type: text.optional(), primary: Flag.optional() });
/** Attributes that are not listed are accepted, and not kept. */
export const ScimUserInput = z.looseObject({
  schemas: Urns,
  externalId: text.optional(),
  userName: name,
  name: z
    .looseObject({ formatted: text.optional(), givenName: text.optional(), familyName: text.optional() })
    .optional(),
  displayName: text.optional(),
  active: Flag.optional(),
  emails: z.array(ScimEmail).max(50).optional(),
  [scimUrns.enterprise]: z.looseObject({ department: text.optional() }).optional(),
});
export type ScimUserInput = z.output<typeof ScimUserInput>;

const Reference = z.object({ value: z.string(), display: z.string(), $ref: z.string() });
export const ScimUser = z.object({
  schemas: z.array(z.string()),
  id: z.string(),
  externalId: z.string().optional(),
  userName: z.string(),
  name: z.object({
    formatted: z.string().optional(),
    givenName: z.string().optional(),
    familyName: z.string().optional(),
  }),
  displayName: z.string().optional(),
  active: z.boolean(),
  emails: z.array(z.object({ value: z.string(), type: z.string().optional(), primary: z.boolean().optional() })),
  groups: z.array(Reference),
  [scimUrns.enterprise]: z.object({ department: z.string() }).optional(),
  meta: Meta,
});
export type ScimUser = z.infer<typeof ScimUser>;

/** At most as many members as fit into a body. */
const Members = z.array(z.looseObject({ value: short, type: short.optional() })).max(50_000);
export const ScimGroupInput = z.looseObject({
  schemas: Urns,
  externalId: text.optional(),
  displayName: name,
  members: Members.optional(),
});
export type ScimGroupInput = z.output<typeof ScimGroupInput>;
export const ScimGroup = z.object({
  schemas: z.array(z.string()),
  id: z.string().meta({ description: "group-<n>" }),
  externalId: z.string().optional(),
  displayName: z.string(),
  members: z
    .array(Reference.extend({ type: z.string() }))
    .optional()
    .meta({ description: "not in the replies to changes of groups with more than 1,000 members" }),
  meta: Meta,
});
export type ScimGroup = z.infer<typeof ScimGroup>;

export const ScimPatch = z.looseObject({
  schemas: Urns,
  Operations: z
    .array(z.looseObject({ op: short, path: z.string().max(1024).optional(), value: z.unknown().optional() }))
    .min(1)
    .max(1_000),
});
export type ScimPatch = z.output<typeof ScimPatch>;

const list = <T extends z.ZodType>(resource: T) =>
  z.object({
    schemas: z.array(z.string()),
    totalResults: z.int(),
    startIndex: z.int(),
    itemsPerPage: z.int(),
    Resources: z.array(resource),
  });

const listQuery = z.object({
  startIndex: QueryInt.default(1).meta({ description: "position of the first result, from 1" }),
  count: QueryInt.default(100).meta({ description: "results per page, at most 100" }),
  filter: z
    .string()
    .max(2048)
    .optional()
    .meta({ description: 'userName eq "ann@example.com", or displayName eq "Sales" for groups' }),
});
const shown = {
  attributes: z.string().max(1024).optional().meta({ description: "attributes of the reply, separated by commas" }),
  excludedAttributes: z.string().max(1024).optional().meta({ description: "members leaves out the members" }),
};

const read = { access: { action: "scim:read", scope: "global" }, tier: "premium", mediaType: SCIM } as const;
const write = {
  access: { action: "scim:write", scope: "global" },
  tier: "premium",
  mediaType: SCIM,
  strict: true,
  bodyLimit: MiB,
} as const;
const params = z.object({ id: z.string().max(64) });

export const scimApi = {
  users: endpoint({
    method: "GET",
    path: "/scim/Users",
    summary: "List the people that the identity provider has sent.",
    ...read,
    query: listQuery,
    response: list(ScimUser),
  }),
  createUser: endpoint({
    method: "POST",
    path: "/scim/Users",
    summary: "Create a person.",
    ...write,
    body: ScimUserInput,
    status: 201,
    response: ScimUser,
  }),
  user: endpoint({
    method: "GET",
    path: "/scim/Users/:id",
    summary: "Get a person.",
    ...read,
    params,
    response: ScimUser,
  }),
  replaceUser: endpoint({
    method: "PUT",
    path: "/scim/Users/:id",
    summary: "Replace what is known of a person.",
    ...write,
    params,
    body: ScimUserInput,
    response: ScimUser,
  }),
  patchUser: endpoint({
    method: "PATCH",
    path: "/scim/Users/:id",
    summary: "Change some attributes of a person.",
    ...write,
    params,
    body: ScimPatch,
    response: ScimUser,
  }),
  deleteUser: endpoint({
    method: "DELETE",
    path: "/scim/Users/:id",
    summary: "Delete a person.",
    ...write,
    params,
    status: 204,
    response: Empty,
  }),
  groups: endpoint({
    method: "GET",
    path: "/scim/Groups",
    summary: "List the groups that the identity provider has sent.",
    ...read,
    query: listQuery.extend(shown),
    response: list(ScimGroup),
  }),
  createGroup: endpoint({
    method: "POST",
    path: "/scim/Groups",
    summary: "Create a group of people.",
    ...write,
    body: ScimGroupInput,
    status: 201,
    response: ScimGroup,
  }),
  group: endpoint({
    method: "GET",
    path: "/scim/Groups/:id",
    summary: "Get a group of people.",
    ...read,
    params,
    query: z.object(shown),
    response: ScimGroup,
  }),
  replaceGroup: endpoint({
    method: "PUT",
    path: "/scim/Groups/:id",
    summary: "Replace a group of people and its members.",
    ...write,
    params,
    body: ScimGroupInput,
    response: ScimGroup,
  }),
  patchGroup: endpoint({
    method: "PATCH",
    path: "/scim/Groups/:id",
    summary: "Change a group of people, or add and remove members.",
    ...write,
    params,
    body: ScimPatch,
    response: ScimGroup,
  }),
  deleteGroup: endpoint({
    method: "DELETE",
    path: "/scim/Groups/:id",
    summary: "Delete a group of people. The people stay.",
    ...write,
    params,
    status: 204,
    response: Empty,
  }),
  schemas: endpoint({
    method: "GET",
    path: "/scim/Schemas",
    summary: "The attributes of people and groups, for identity providers.",
    ...read,
    response: list(z.looseObject({ id: z.string(), name: z.string() })),
  }),
  serviceProviderConfig: endpoint({
    method: "GET",
    path: "/scim/ServiceProviderConfig",
    summary: "The parts of SCIM that this server supports.",
    ...read,
    response: z.looseObject({
      schemas: z.array(z.string()),
      patch: z.object({ supported: z.boolean() }),
      filter: z.object({ supported: z.boolean(), maxResults: z.int() }),
    }),
  }),
  resourceTypes: endpoint({
    method: "GET",
    path: "/scim/ResourceTypes",
    summary: "The types of resources that identity providers can send.",
    ...read,
    response: list(z.looseObject({ id: z.string(), endpoint: z.string() })),
  }),
  details: endpoint({
    method: "GET",
    path: "/scim/details",
    summary: "The time and the result of the identity provider's last request.",
    access: read.access,
    tier: "premium",
    response: z.object({
      last_request: z
        .object({
          requested_at: z.iso.datetime(),
          status: z.enum(["success", "error"]),
          details: z.string().meta({ description: "why the request failed; else empty" }),
        })
        .nullable()
        .meta({ description: "null if there has been no request" }),
    }),
  }),
};
