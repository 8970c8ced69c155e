import { versionApi } from "../../api/version.ts";
import { route } from "../core/route.ts";
import { version } from "../core/version.ts";

export const versionRoutes = [route(versionApi.get, async () => version)];
