import { olderApi } from "../../../api/devices/older.ts";
import { profilesApi } from "../../../api/devices/profiles.ts";
import { type Route, route } from "../../platform/core/http/route.ts";
import { replaceProfiles } from "./batch.ts";
import { resendFailed, resendToHost } from "./resend.ts";
import { createProfile, deleteProfile, downloadProfile, getProfile, listProfiles, updateProfile } from "./service.ts";
import { hostsOfProfile, settingsSummary, statusOfProfile } from "./status.ts";

export const profileRoutes: readonly Route[] = [
  route(profilesApi.list, ({ query }, ctx) => listProfiles(ctx, query)),
  route(profilesApi.get, ({ params, query }, ctx) =>
    query.alt === "media" ? downloadProfile(ctx, params.profile_uuid) : getProfile(ctx, params.profile_uuid),
  ),
  route(profilesApi.create, ({ body: { profile, activation, team_id, ...labels } }, ctx) =>
    createProfile(ctx, team_id, { profile, activation }, labels),
  ),
  route(profilesApi.update, ({ params, body: { profile, activation, ...labels } }, ctx) =>
    updateProfile(ctx, params.profile_uuid, { ...(profile ? { profile } : {}), activation }, labels),
  ),
  route(profilesApi.delete, ({ params }, ctx) => deleteProfile(ctx, params.profile_uuid)),
  route(profilesApi.batch, ({ query, body }, ctx) => replaceProfiles(ctx, query, body)),
  route(profilesApi.summary, ({ query }, ctx) => settingsSummary(ctx, query)),
  route(profilesApi.status, ({ params }, ctx) => statusOfProfile(ctx, params.profile_uuid)),
  route(profilesApi.hosts, ({ params, query }, ctx) => hostsOfProfile(ctx, params.profile_uuid, query)),
  route(profilesApi.resend, ({ params }, ctx) => resendToHost(ctx, params.id, params.profile_uuid)),
  route(olderApi.preassign, async () => ({})),
  route(olderApi.match, async () => ({})),
  route(profilesApi.resendBatch, ({ body }, ctx) => resendFailed(ctx, body.profile_uuid)),
];
