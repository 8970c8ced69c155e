import { invitesApi } from "../../../api/accounts/invites.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { acceptInvite, showInvite } from "./accept.ts";
import { createInvite, deleteInvite, listInvites, modifyInvite } from "./service.ts";

export const inviteRoutes: readonly Route[] = [
  route(invitesApi.list, ({ query }, ctx) => listInvites(ctx, query)),
  route(invitesApi.create, ({ body }, ctx) => createInvite(ctx, body)),
  route(invitesApi.modify, ({ params, body }, ctx) => modifyInvite(ctx, params.id, body)),
  route(invitesApi.delete, ({ params }, ctx) => deleteInvite(ctx, params.id)),
  route(invitesApi.show, ({ params }, ctx) => showInvite(ctx, params.token)),
  route(invitesApi.accept, ({ body }, ctx) => acceptInvite(ctx, body)),
];
