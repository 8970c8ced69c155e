import { hostPasswordsApi } from "../../../api/devices/host-passwords.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { managedAccountPasswordOf, recoveryLockPasswordOf } from "./service.ts";

export const hostPasswordRoutes: readonly Route[] = [
  route(hostPasswordsApi.recoveryLock, ({ params }, ctx) => recoveryLockPasswordOf(ctx, params.id)),
  route(hostPasswordsApi.managedAccount, ({ params }, ctx) => managedAccountPasswordOf(ctx, params.id)),
];
