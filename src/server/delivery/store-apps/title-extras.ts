// Store apps in the views of software titles. Who may not see packages sees titles without them.
import type { StoreApp } from "../../../api/software/store-app.ts";
import { inTeam, may, visible } from "../../platform/core/security/access.ts";
import { and, eq, everything, oneOf } from "../../platform/store/query.ts";
import type { TitleExtras } from "../../software/software/titles/titles.ts";
import { appOfTitle } from "./apps.ts";
import { appsOnWire } from "./view.ts";

export const storeAppExtras: TitleExtras = {
  async offered(ctx, teamId, { self_service, packages_only, hash_sha256, package_name }) {
    if (packages_only || hash_sha256 !== undefined || package_name !== undefined) return [];
    const where = and(
      inTeam(teamId),
      visible(ctx, "packages:read"),
      self_service ? eq("self_service", true) : everything,
    );
    return (await ctx.store.storeApps.pick(["title_id"], { where })).map(({ title_id }) => title_id);
  },
  async listed(ctx, teamId, titleIds) {
    if (!may(ctx.user, "packages:read", teamId || null)) return new Map();
    const rows = await ctx.store.storeApps.list({ where: and(inTeam(teamId), oneOf("title_id", titleIds)) });
    const shown = await appsOnWire(ctx.store, rows);
    return new Map(rows.map(({ title_id }, i) => [title_id, extrasOf(shown[i]!)]));
  },
  async detailed(ctx, teamId, titleId) {
    if (!may(ctx.user, "packages:read", teamId || null)) return {};
    const row = await appOfTitle(ctx.store, titleId, teamId || null);
    return row === null ? {} : extrasOf((await appsOnWire(ctx.store, [row]))[0]!);
  },
};

const extrasOf = (app: StoreApp) => ({
  app_store_app: app,
  icon_url: app.icon_url,
  ...(app.display_name === "" ? {} : { display_name: app.display_name }),
});
