import { usersApi } from "../../../api/accounts/users.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { modifyUser } from "./modify.ts";
import { changePassword, performRequiredReset } from "./password.ts";
import { applyRoles } from "./roles-spec.ts";
import { createUser, deleteUser, getMe, getUser, listUsers, requirePasswordReset } from "./service.ts";

export const userRoutes: readonly Route[] = [
  route(usersApi.list, ({ query }, ctx) => listUsers(ctx, query)),
  route(usersApi.create, ({ body }, ctx) => createUser(ctx, body)),
  route(usersApi.get, ({ params, query }, ctx) => getUser(ctx, params.id, query)),
  route(usersApi.me, ({ query }, ctx) => getMe(ctx, query)),
  route(usersApi.modify, ({ params, body }, ctx) => modifyUser(ctx, params.id, body)),
  route(usersApi.applyRoles, ({ body }, ctx) => applyRoles(ctx, body.spec)),
  route(usersApi.delete, ({ params }, ctx) => deleteUser(ctx, params.id)),
  route(usersApi.requirePasswordReset, ({ params, body }, ctx) => requirePasswordReset(ctx, params.id, body.require)),
  route(usersApi.changePassword, ({ body }, ctx) => changePassword(ctx, body)),
  route(usersApi.performRequiredPasswordReset, ({ body }, ctx) => performRequiredReset(ctx, body.new_password)),
];
