// What hosts install during their setup, in its order, by the names that files have for it.
import { NO_TEAM_NAME } from "../../../../../api/settings/no-team.ts";
import { type SetupPlatform, setupPlatforms } from "../../../../../api/setup-platforms.ts";
import { chooseApp } from "../../../../delivery/store-apps/setup.ts";
import type { Context } from "../../../../platform/core/context.ts";
import { and, eq, nothing } from "../../../../platform/store/query.ts";
import { choosePackage } from "../../../../software/installers/setup.ts";
import { type ChosenForSetup, chosenAt, positionDuringSetup } from "../../../../software/software/setup-order.ts";
import { ofTier, ownersOf, type SharedRows } from "../../shared-rows.ts";
import { packageNames, placeOf } from "../package/rows.ts";
import { appObjects, readApps } from "../store-app/rows.ts";

/** A package, or an app on its platforms. */
export interface SetupSoftware {
  readonly name: string;
  readonly team_id: number | null;
  readonly title_id: number;
  /** The first place on any platform. */
  readonly position: number;
  /** Gives it this place on every platform that has it. Returns the platforms on which it had another. */
  place(position: number): Promise<SetupPlatform[]>;
}

type ByOwner = ReadonlyMap<string, readonly SetupSoftware[]>;

/** By the names of the owners, in order of installation. */
export async function setupSoftware(ctx: Context, shared: Pick<SharedRows, "teams">): Promise<ByOwner> {
  const ownerOf = ownersOf(shared as SharedRows);
  const byOwner = new Map<string, SetupSoftware[]>();
  for (const software of [...(await packagesOf(ctx)), ...(await appsOf(ctx, shared as SharedRows))]) {
    const owner = ownerOf(software);
    if (owner === undefined) continue;
    const key = owner ?? NO_TEAM_NAME;
    byOwner.set(key, [...(byOwner.get(key) ?? []), software]);
  }
  for (const all of byOwner.values()) all.sort((a, b) => a.position - b.position || a.title_id - b.title_id);
  return byOwner;
}

async function packagesOf(ctx: Context): Promise<SetupSoftware[]> {
  const { store } = ctx;
  const where = ofTier(ctx, "packages:write", nothing);
  const rows = await store.softwareInstallers.list({ where: and(where, eq("install_during_setup", true)) });
  if (rows.length === 0) return [];
  const names = await packageNames(store, where);
  return rows.flatMap((row) => {
    const name = names.get(placeOf(row));
    return name === undefined ? [] : [software(name, [row], (now, at) => choosePackage(store, now, at))];
  });
}

async function appsOf(ctx: Context, shared: SharedRows): Promise<SetupSoftware[]> {
  const { store } = ctx;
  const inSetup = and(ofTier(ctx, "packages:write", nothing), eq("install_during_setup", true));
  if ((await store.storeApps.first({ where: inSetup })) === null) return [];
  return appObjects(await readApps(ctx), shared)
    .filter(({ value }) => value.setup_experience)
    .map(({ key, rows }) => software((JSON.parse(key) as string[])[2]!, rows, (now, at) => chooseApp(store, now, at)));
}

type SetupOrderRow = ChosenForSetup & {
  readonly team_id: number | null;
  readonly title_id: number;
  readonly platform: SetupPlatform;
};
type Choose<R> = (row: R, at: { readonly platform: SetupPlatform; readonly position: number }) => Promise<void>;

function software<R extends SetupOrderRow>(name: string, rows: readonly R[], choose: Choose<R>): SetupSoftware {
  const places = rows.flatMap((row) =>
    setupPlatforms.flatMap((platform) => {
      const position = positionDuringSetup(row, row.platform, platform);
      return position === null ? [] : [{ platform, position }];
    }),
  );
  const { team_id, title_id } = rows[0]!;
  return {
    name,
    team_id,
    title_id,
    position: Math.min(...places.map(({ position }) => position)),
    async place(position) {
      for (const row of rows) {
        // Each change of a platform builds on the one before.
        let now = row;
        for (const platform of setupPlatforms) {
          const before = positionDuringSetup(now, row.platform, platform);
          if (before === null || before === position) continue;
          await choose(now, { platform, position });
          now = { ...now, ...chosenAt(now, row.platform, { platform, position }) };
        }
      }
      return [...new Set(places.filter((place) => place.position !== position).map(({ platform }) => platform))];
    },
  };
}
