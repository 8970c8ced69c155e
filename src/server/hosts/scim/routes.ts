import { scimApi } from "../../../api/hosts/scim.ts";
import { wantsDryRun } from "../../platform/core/http/dry-run.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { maySomewhere } from "../../platform/core/security/access.ts";
import { resourceTypes, schemas, serviceProviderConfig } from "./discovery.ts";
import { createGroup, deleteGroup, getGroup, listGroups, patchGroup, replaceGroup } from "./groups.ts";
import { lastRequest, noteRequest } from "./last-request.ts";
import { createUser, deleteUser, getUser, listUsers, patchUser, replaceUser } from "./users.ts";
import { placeOf } from "./wire.ts";

/** Notes the result of each request of those who may send people and groups. */
const noted = ({ endpoint, run }: Route): Route => ({
  endpoint,
  async run(raw, ctx, reply) {
    const counts = maySomewhere(ctx.user, "scim:write");
    try {
      const value = await run(raw, ctx, reply);
      if (counts && !wantsDryRun(ctx)) await noteRequest(ctx, null);
      return value;
    } catch (error) {
      if (counts && !wantsDryRun(ctx)) await noteRequest(ctx, error);
      throw error;
    }
  },
});

const ofProviders: readonly Route[] = [
  route(scimApi.users, ({ query }, ctx) => listUsers(ctx, query)),
  route(scimApi.createUser, async ({ body }, ctx, reply) => {
    const user = await createUser(ctx, body);
    reply.headers.location = user.meta.location;
    return user;
  }),
  route(scimApi.user, ({ params }, ctx) => getUser(ctx, params.id)),
  route(scimApi.replaceUser, ({ params, body }, ctx) => replaceUser(ctx, params.id, body)),
  route(scimApi.patchUser, ({ params, body }, ctx) => patchUser(ctx, params.id, body)),
  route(scimApi.deleteUser, ({ params }, ctx) => deleteUser(ctx, params.id)),
  route(scimApi.groups, ({ query }, ctx) => listGroups(ctx, query)),
  route(scimApi.createGroup, async ({ body }, ctx, reply) => {
    const group = await createGroup(ctx, body);
    reply.headers.location = group.meta.location;
    return group;
  }),
  route(scimApi.group, ({ params, query }, ctx) => getGroup(ctx, params.id, query)),
  route(scimApi.replaceGroup, ({ params, body }, ctx) => replaceGroup(ctx, params.id, body)),
  route(scimApi.patchGroup, ({ params, body }, ctx) => patchGroup(ctx, params.id, body)),
  route(scimApi.deleteGroup, ({ params }, ctx) => deleteGroup(ctx, params.id)),
  route(scimApi.schemas, async (_input, ctx) => schemas(await placeOf(ctx))),
  route(scimApi.serviceProviderConfig, async (_input, ctx) => serviceProviderConfig(await placeOf(ctx))),
  route(scimApi.resourceTypes, async (_input, ctx) => resourceTypes(await placeOf(ctx))),
];

export const scimRoutes: readonly Route[] = [
  ...ofProviders.map(noted),
  route(scimApi.details, (_input, ctx) => lastRequest(ctx)),
];
