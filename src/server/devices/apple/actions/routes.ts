import { hostActionsApi } from "../../../../api/hosts/host-actions.ts";
import { type Route, route } from "../../../platform/core/http/route.ts";
import { clearPasscode } from "./clear-passcode.ts";

export const appleActionRoutes: readonly Route[] = [
  route(hostActionsApi.clearPasscode, ({ params }, ctx) => clearPasscode(ctx, params.id)),
];
