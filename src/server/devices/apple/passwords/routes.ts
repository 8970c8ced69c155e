import { hostPasswordsApi } from "../../../../api/devices/host-passwords.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { rotateManagedAccount, rotateRecoveryLock } from "./service.ts";

export const applePasswordRoutes: readonly Route[] = [
  route(hostPasswordsApi.rotateRecoveryLock, ({ params }, ctx) => rotateRecoveryLock(ctx, params.id)),
  route(hostPasswordsApi.rotateManagedAccount, ({ params }, ctx) => rotateManagedAccount(ctx, params.id)),
];
