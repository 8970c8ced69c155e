// Packages in the views of software titles. Who may not see packages sees titles without them.
import { inTeam, may, visible } from "../../platform/core/security/access.ts";
import { and, contains, eq, everything, isNull, oneOf } from "../../platform/store/query.ts";
import type { TitleExtras } from "../software/titles/titles.ts";
import { installerOfTitle } from "./hosts.ts";
import { packagesInLists, packagesOnWire } from "./wire.ts";

export const packageExtras: TitleExtras = {
  async offered(ctx, teamId, { self_service, hash_sha256, package_name, exclude_svc_maintained_apps }) {
    const where = and(
      inTeam(teamId),
      visible(ctx, "packages:read"),
      self_service ? eq("self_service", true) : everything,
      hash_sha256 === undefined ? everything : eq("sha256", hash_sha256.toLowerCase()),
      package_name === undefined ? everything : contains("file_name", package_name),
      exclude_svc_maintained_apps ? isNull("catalogue_app_id") : everything,
    );
    return (await ctx.store.softwareInstallers.pick(["title_id"], { where })).map(({ title_id }) => title_id);
  },
  async listed(ctx, teamId, titleIds) {
    if (!may(ctx.user, "packages:read", teamId || null)) return new Map();
    const rows = await ctx.store.softwareInstallers.list({ where: and(inTeam(teamId), oneOf("title_id", titleIds)) });
    const packagesByTitle = await packagesInLists(ctx.store, rows);
    return new Map(
      rows.map(({ title_id, sha256, display_name }, i) => [
        title_id,
        {
          software_package: packagesByTitle[i]!,
          packages: [packagesByTitle[i]!],
          hash_sha256: sha256,
          ...(display_name === "" ? {} : { display_name }),
        },
      ]),
    );
  },
  async detailed(ctx, teamId, titleId) {
    if (!may(ctx.user, "packages:read", teamId || null)) return {};
    const installer = await installerOfTitle(ctx.store, teamId || null, titleId);
    if (installer === null) return {};
    const packages = await packagesOnWire(ctx, [installer]);
    const { display_name, sha256 } = installer;
    return {
      software_package: packages[0]!,
      packages,
      hash_sha256: sha256,
      ...(display_name === "" ? {} : { display_name }),
    };
  },
};
