import { versionApi } from "../../../api/settings/version.ts";
import { route } from "../../platform/core/http/route.ts";
import { version } from "../../platform/core/version.ts";

export const versionRoutes = [route(versionApi.get, async () => version)];
