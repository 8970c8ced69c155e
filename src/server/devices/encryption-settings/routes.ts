import { diskEncryptionApi } from "../../../api/devices/disk-encryption.ts";
import { route } from "../../platform/core/http/route.ts";
import { changeDiskEncryption } from "./settings.ts";
import { diskEncryptionSummary } from "./summary.ts";

export const diskEncryptionRoutes = [
  route(diskEncryptionApi.change, ({ body }, ctx) => changeDiskEncryption(ctx, body)),
  route(diskEncryptionApi.changeByPatch, ({ body }, ctx) => changeDiskEncryption(ctx, body)),
  route(diskEncryptionApi.summary, ({ query }, ctx) => diskEncryptionSummary(ctx, query)),
];
