import { versionApi } from "../../api/version.ts";
import { route } from "../core/http/route.ts";
import { version } from "../core/version.ts";

export const versionRoutes = [route(versionApi.get, async () => version)];
