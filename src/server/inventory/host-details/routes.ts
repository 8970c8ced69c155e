import { hostDetailsApi } from "../../../api/inventory/host-details.ts";
import { hostVitalsApi } from "../../../api/settings/variables.ts";
import { encryptionKeyOf, escrowedKeysOf } from "../../devices/encryption-settings/keys.ts";
import { unenrollHost } from "../../devices/leaving/leave.ts";
import { profilesOfHost } from "../../devices/profiles/status.ts";
import { hostFor } from "../../hosts/hosts/access.ts";
import { mdmOfHost, mdmSummary } from "../../hosts/mdm-status/service.ts";
import { desktopAdminOfAll, desktopAdminOfHost } from "../../hosts/munki/service.ts";
import { route } from "../../platform/core/http/route.ts";
import { setVital } from "../../settings/variables/vitals.ts";
import { withImportTime } from "../../software/software/vulnerabilities/imported.ts";
import { certificatesOfHost } from "./certificates.ts";
import { mappingOfHost, removeIdpMapping, setMapping } from "./device-mapping.ts";
import { healthOfHost } from "./health.ts";

export const hostDetailRoutes = [
  route(hostDetailsApi.health, ({ params }, ctx) => withImportTime(ctx, healthOfHost(ctx, params.id))),
  route(hostDetailsApi.mdm, ({ params }, ctx) => mdmOfHost(ctx, params.id)),
  route(hostDetailsApi.mdmSummary, ({ query }, ctx) => mdmSummary(ctx, query)),
  route(hostDetailsApi.unenroll, ({ params }, ctx) => unenrollHost(ctx, params.id)),
  route(hostDetailsApi.unenrollByPatch, ({ params }, ctx) => unenrollHost(ctx, params.id)),
  route(hostDetailsApi.desktopAdmin, ({ params }, ctx) => desktopAdminOfHost(ctx, params.id)),
  route(hostDetailsApi.desktopAdminSummary, ({ query }, ctx) => desktopAdminOfAll(ctx, query)),
  route(hostDetailsApi.deviceMapping, ({ params }, ctx) => mappingOfHost(ctx, params.id)),
  route(hostDetailsApi.setDeviceMapping, ({ params, body }, ctx) => setMapping(ctx, params.id, body)),
  route(hostDetailsApi.deleteIdpMapping, ({ params }, ctx) => removeIdpMapping(ctx, params.id)),
  route(hostDetailsApi.certificates, ({ params, query }, ctx) => certificatesOfHost(ctx, params.id, query)),
  route(hostDetailsApi.profiles, ({ params }, ctx) => profilesOfHost(ctx, params.id)),
  route(hostDetailsApi.encryptionKeys, ({ params }, ctx) => escrowedKeysOf(ctx, params.id)),
  route(hostDetailsApi.encryptionKey, ({ params }, ctx) => encryptionKeyOf(ctx, params.id)),
  route(hostVitalsApi.setValue, async ({ params, body }, ctx) =>
    setVital(ctx, await hostFor(ctx, "hosts:write_vitals", params.id), params.vital_id, body.value),
  ),
];
