import { osVersionsApi } from "../../../api/software/os-versions.ts";
import { route } from "../../platform/core/http/route.ts";
import { withImportTime } from "../software/vulnerabilities/imported.ts";
import { getOsVersion, listOsVersions } from "./service.ts";

export const osVersionRoutes = [
  route(osVersionsApi.list, ({ query }, ctx) => withImportTime(ctx, listOsVersions(ctx, query))),
  route(osVersionsApi.get, ({ params, query }, ctx) => withImportTime(ctx, getOsVersion(ctx, params.id, query))),
];
